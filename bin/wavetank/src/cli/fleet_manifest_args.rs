//! Arguments of `wavetank fleet manifest`.

use clap::Args;
use wavetank_units::{AllowTarget, Code, UserError};

use super::value_parsers::parse_u32;

/// Most agents of a manifest. Their seeds are in one secret, which has 1 MiB at most.
const AGENTS_MAX: u32 = 1_000;
/// Longest name of a fleet: names of objects have 63 characters at most.
const NAME_CHARS_MAX: usize = 40;

/// `fleet manifest`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet manifest --kubernetes --agents 8 --image registry.example/wavetank:0.1.0 -- \\
               http://shop.test.svc/ -r 50k/s -d 5m | kubectl apply -f -
The output contains new secret keys. The arguments after -- are those of `wavetank run`")]
pub(crate) struct FleetManifestArgs {
    /// Print objects of Kubernetes, the only form so far
    #[arg(long, required = true)]
    pub(crate) kubernetes: bool,
    /// Number of agents
    #[arg(long, value_name = "N", default_value = "2", value_parser = parse_u32)]
    pub(crate) agents: u32,
    /// Container image of this program
    #[arg(long, value_name = "IMAGE", default_value = concat!("wavetank:", env!("CARGO_PKG_VERSION")))]
    pub(crate) image: String,
    /// Container image of nats-server
    #[arg(long, value_name = "IMAGE", default_value = "nats:2.12-alpine")]
    pub(crate) broker_image: String,
    /// Name of the fleet, with which the names of all objects start
    #[arg(long, value_name = "NAME", default_value = "wavetank")]
    pub(crate) name: String,
    /// Namespace of all objects
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) namespace: String,
    /// CPUs that each agent requests, as a quantity of Kubernetes
    #[arg(long, value_name = "QUANTITY", default_value = "1")]
    pub(crate) cpu: String,
    /// Memory of each agent, requested and at most, as a quantity of Kubernetes
    #[arg(long, value_name = "QUANTITY", default_value = "1Gi")]
    pub(crate) memory: String,
    /// Targets that the agents may load, joined by commas [default: loopback and private addresses]
    /// (repeatable)
    #[arg(long, value_name = "TARGETS", value_delimiter = ',', value_parser = AllowTarget::parse)]
    pub(crate) allow: Vec<AllowTarget>,
    /// Persistent volume claim for archives [default: none, they end with the controller's pod]
    #[arg(long, value_name = "NAME")]
    pub(crate) claim: Option<String>,
    /// Arguments of `wavetank run` on the controller
    #[arg(value_name = "RUN_ARGS", required = true, last = true, allow_hyphen_values = true)]
    pub(crate) run: Vec<String>,
}

impl FleetManifestArgs {
    /// Checks names and numbers that Kubernetes would refuse.
    pub(super) fn check(&self) -> Result<(), UserError> {
        let hint = "use lower-case letters, digits and `-`, at most 40 characters";
        for (option, name) in [("--name", &self.name), ("--namespace", &self.namespace)] {
            if !is_label(name) {
                let message = format!("{option} `{name}` is not a name of Kubernetes");
                return Err(UserError::usage(Code::BadManifest, message, hint));
            }
        }
        if let Some(claim) = self.claim.as_ref().filter(|claim| !is_label(claim)) {
            let message = format!("--claim `{claim}` is not a name of Kubernetes");
            return Err(UserError::usage(Code::BadManifest, message, hint));
        }
        for (option, text) in [("--cpu", &self.cpu), ("--memory", &self.memory)] {
            if !is_quantity(text) {
                let message = format!("{option} `{text}` is not a quantity of Kubernetes");
                return Err(UserError::usage(Code::BadManifest, message, "write for example 500m, 2 or 1Gi"));
            }
        }
        if !(1..=AGENTS_MAX).contains(&self.agents) {
            let message = format!("--agents {} is not between 1 and {AGENTS_MAX}", self.agents);
            return Err(UserError::usage(Code::BadManifest, message, "use fewer agents with more CPUs each"));
        }
        Ok(())
    }
}

/// Returns whether a text can be a part of the names of objects and of host names.
fn is_label(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_inner = text.starts_with(|c: char| c.is_ascii_lowercase()) && !text.ends_with('-');
    is_inner && text.len() <= NAME_CHARS_MAX && text.chars().all(is_plain)
}

/// Returns whether a text is a positive quantity: a decimal number and perhaps a suffix.
fn is_quantity(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let suffixes = ["", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"];
    number.parse::<f64>().is_ok_and(|number| number > 0.0) && suffixes.contains(&suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_quantities_are_those_of_kubernetes() {
        let check = |is: fn(&str) -> bool, good: &[&str], bad: &[&str]| {
            assert!(good.iter().all(|text| is(text)), "{good:?}");
            assert!(!bad.iter().any(|text| is(text)), "{bad:?}");
        };
        check(is_label, &["wavetank", "a-1"], &["", "A", "-a", "a-", "1a", "a.b", &"a".repeat(41)]);
        check(is_quantity, &["1", "500m", "1.5", "2Gi"], &["", "0", "-1", "1 Gi", "1GB", "x"]);
    }
}
