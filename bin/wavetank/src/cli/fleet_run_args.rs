//! [`FleetRunArgs`]: the fleet that sends the load of a run.

use std::path::PathBuf;

use clap::Args;
use wavetank_fleet::LossPolicy;
use wavetank_fleet::constants::LEASE_MIN;
use wavetank_units::quantity::parse_duration_positive;
use wavetank_units::{Code, Nanos, UserError};

/// The group of options by which agents send the load: `--fleet`, and `--agents` of `lab run`.
pub(super) const SENDERS: &str = "senders";

/// The fleet that sends the load of a run.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Fleet")]
pub(crate) struct FleetRunArgs {
    /// Send the load from the hosts of this fleet file, on which `wavetank fleet up` started agents
    #[arg(long, value_name = "FILE", group = SENDERS)]
    pub(crate) fleet: Option<PathBuf>,
    /// Hosts or groups of the fleet to leave out (repeatable)
    #[arg(long, value_name = "HOSTS", requires = "fleet")]
    pub(crate) without: Vec<String>,
    /// When an agent is lost under load: `incomplete` (the others go on), `abort`, or the part of
    /// the load that may be lost, such as 5% [default: incomplete]
    #[arg(long, value_name = "POLICY", requires = SENDERS, value_parser = parse_on_loss)]
    pub(crate) on_loss: Option<LossPolicy>,
    /// Refuse to start if two agents could start further apart than this [default: 5ms]
    #[arg(long, value_name = "TIME", requires = SENDERS, value_parser = parse_duration_positive)]
    pub(crate) start_tolerance: Option<Nanos>,
    /// How long agents send load without hearing the controller, at least 3s [default: 30s]
    #[arg(long, value_name = "TIME", requires = SENDERS, value_parser = parse_lease)]
    pub(crate) lease: Option<Nanos>,
    /// Configuration file of ssh in place of the user's
    #[arg(long, value_name = "FILE", requires = "fleet")]
    pub(crate) ssh_config: Option<PathBuf>,
    /// Folder of `fleet broker init`, if the fleet's link is a broker [default: FILE.broker]
    #[arg(long, value_name = "DIR", requires = "fleet")]
    pub(crate) broker: Option<PathBuf>,
}

impl FleetRunArgs {
    /// Checks that the run can come from a fleet.
    pub(super) fn check(&self, once: bool, source_auto: bool) -> Result<(), UserError> {
        let refused = |what: &str, hint: &str| {
            Err(UserError::usage(Code::Conflict, format!("{what} cannot be used with --fleet"), hint))
        };
        if self.fleet.is_none() {
            return Ok(());
        }
        if once {
            return refused("--once", "leave out --fleet: one request is sent from this host");
        }
        if source_auto {
            return refused("--source auto", "name the addresses: --source 10.0.8.0/24");
        }
        Ok(())
    }
}

/// Reads how long agents go on without their controller.
fn parse_lease(text: &str) -> Result<Nanos, UserError> {
    let lease = parse_duration_positive(text)?;
    if lease < LEASE_MIN {
        let message = format!("a lease of {text} is too short: the controller extends leases once a second");
        return Err(UserError::usage(Code::BadLease, message, "use at least --lease 3s"));
    }
    Ok(lease)
}

/// Reads what the loss of an agent means.
fn parse_on_loss(text: &str) -> Result<LossPolicy, UserError> {
    let percent = || text.strip_suffix('%')?.parse().ok().filter(|percent| (1..=99).contains(percent));
    match text {
        "incomplete" => Ok(LossPolicy::Incomplete),
        "abort" => Ok(LossPolicy::Abort),
        _ => percent().map(|percent| LossPolicy::Tolerate { percent }).ok_or_else(|| {
            let message = format!("`{text}` is not incomplete, abort or a percentage from 1% to 99%");
            UserError::usage(
                Code::BadLossPolicy,
                message,
                "write for example --on-loss abort or --on-loss 5%",
            )
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_outlasts_missed_heartbeats() {
        let check = |text: &str, expected: Option<i64>| {
            assert_eq!(parse_lease(text).ok(), expected.map(Nanos::from_millis), "{text}");
        };
        check("3s", Some(3_000));
        check("1m", Some(60_000));
        for text in ["0", "2999ms", "-5s", "5", "long"] {
            check(text, None);
        }
    }

    #[test]
    fn a_loss_means_what_the_text_says() {
        let check = |text: &str, expected: Option<LossPolicy>| {
            assert_eq!(parse_on_loss(text).ok(), expected, "{text}");
        };
        check("incomplete", Some(LossPolicy::Incomplete));
        check("abort", Some(LossPolicy::Abort));
        check("5%", Some(LossPolicy::Tolerate { percent: 5 }));
        for text in ["", "5", "0%", "100%", "-5%", "5.5%", "Abort"] {
            check(text, None);
        }
    }
}
