//! Parses faults given as text: `kill nginx`, `drop 20% front`.

use std::fmt;

use wavetank_units::quantity::{parse_count_positive, parse_duration_positive, parse_share};
use wavetank_units::{Code, Nanos, UserError, did_you_mean};

use crate::{FaultKind, Host, Interface, Lab};

/// The accepted forms of a fault.
const SHAPES: &str = "kill SERVICE, stop SERVICE, pause SERVICE, cut NETWORK, drop SHARE NETWORK, files SERVICE N or \
                      slow SERVICE TIME";
const VERBS: [&str; 7] = ["kill", "stop", "pause", "cut", "drop", "files", "slow"];
/// The longest delay of a slow service. For longer stops, a service is paused instead.
const SLOW_MAX: Nanos = Nanos::from_secs(60);
/// The shortest delay: processes cannot be stopped and resumed at a finer granularity.
const SLOW_MIN: Nanos = Nanos::from_millis(1);

/// Parses `words` as a fault of the host of `lab` called `host`. The service or the network may be
/// left out if the host has only one.
///
/// # Errors
/// A usage error with the reason and the accepted forms.
pub fn parse_fault(words: &str, lab: &Lab, host: &str) -> Result<FaultKind, UserError> {
    let host = find_host(lab, host)?;
    let mut rest = words.split_whitespace();
    let verb = rest.next().unwrap_or_default();
    let reported = FaultTokens { verb, rest: rest.collect(), lab, host };
    match verb {
        "kill" => Ok(FaultKind::Kill { service: reported.service(0)? }),
        "stop" => Ok(FaultKind::Stop { service: reported.service(0)? }),
        "pause" => Ok(FaultKind::Pause { service: reported.service(0)? }),
        "cut" => Ok(FaultKind::Cut { interface: reported.interface(0)? }),
        "drop" => {
            let share_ppm = (reported.quantity(parse_share)? * 1e6).round() as u32;
            if share_ppm == 0 {
                return Err(reported.wrong("the share must be above zero"));
            }
            Ok(FaultKind::Drop { interface: reported.interface(1)?, share_ppm })
        }
        "files" => {
            let limit = reported.quantity(parse_count_positive)?;
            Ok(FaultKind::Files { service: reported.service(1)?, limit })
        }
        "slow" => {
            let delay = reported.quantity(parse_duration_positive)?;
            if !(SLOW_MIN..=SLOW_MAX).contains(&delay) {
                return Err(reported.wrong("a service is slow by 1 ms to 60 s; pause SERVICE stops it"));
            }
            Ok(FaultKind::Slow { service: reported.service(1)?, delay })
        }
        _ => {
            let near = did_you_mean(verb, VERBS).map(|near| format!("; did you mean {near}?"));
            Err(reported.wrong(&format!("`{verb}` is not a fault{}", near.unwrap_or_default())))
        }
    }
}

/// Returns the host with this name.
pub(super) fn find_host<'a>(lab: &'a Lab, name: &str) -> Result<&'a Host, UserError> {
    lab.host(name).ok_or_else(|| {
        let names = || lab.hosts.iter().map(|host| host.name.as_str());
        let hint = match did_you_mean(name, names()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("its hosts: {}", names().collect::<Vec<_>>().join(", ")),
        };
        UserError::usage(Code::LabHost, format!("lab {} has no host `{name}`", lab.name), hint)
    })
}

/// The parts of a fault given as text.
struct FaultTokens<'a> {
    verb: &'a str,
    /// A name and a quantity, in either order.
    rest: Vec<&'a str>,
    lab: &'a Lab,
    host: &'a Host,
}

impl FaultTokens<'_> {
    /// Returns the service named in addition to `quantities` quantities, or the host's only
    /// service.
    fn service(&self, quantities: usize) -> Result<String, UserError> {
        let known: Vec<&str> = self.host.services.iter().map(|service| service.name.as_str()).collect();
        match (self.name(quantities)?, known.as_slice()) {
            (Some(name), known) if known.contains(&name) => Ok(name.to_owned()),
            (Some(name), _) => Err(self.unknown("service", name, &known)),
            (None, [only]) => Ok((*only).to_owned()),
            (None, _) => Err(self.unknown("service", "", &known)),
        }
    }

    /// Returns the interface named by its network or by its own name, or the host's only interface.
    fn interface(&self, quantities: usize) -> Result<String, UserError> {
        let network = |interface: &Interface| {
            self.lab.networks.get(interface.network).map_or("", |network| network.name.as_str())
        };
        let interfaces = &self.host.interfaces;
        let known = || interfaces.iter().map(network).collect::<Vec<_>>();
        let found = match self.name(quantities)? {
            Some(name) => {
                let named = |one: &&Interface| network(one) == name || one.name == name;
                let own = interfaces.iter().find(named);
                own.ok_or_else(|| self.unknown("network", name, &known()))?
            }
            None if interfaces.len() == 1 => &interfaces[0],
            None => return Err(self.unknown("network", "", &known())),
        };
        Ok(found.name.clone())
    }

    /// Returns the one argument that is not a quantity, or `None` if there is no such argument.
    fn name(&self, quantities: usize) -> Result<Option<&str>, UserError> {
        let names: Vec<&str> = if quantities == 0 {
            self.rest.clone()
        } else {
            self.rest.iter().copied().filter(|word| !is_quantity(word)).collect()
        };
        if names.len() > 1 || self.rest.len() > names.len() + quantities {
            let said = self.rest.join(" ");
            return Err(self.wrong(&format!("`{} {said}` has an unexpected argument", self.verb)));
        }
        Ok(names.first().copied())
    }

    /// Returns the one argument that is a quantity.
    fn quantity<T>(&self, parse: impl Fn(&str) -> Result<T, UserError>) -> Result<T, UserError> {
        let word = self.rest.iter().find(|word| is_quantity(word)).copied().unwrap_or_default();
        if word.is_empty() {
            return Err(self.wrong(&format!("`{}` needs a quantity", self.verb)));
        }
        parse(word).map_err(|error| UserError { code: Code::LabFaultWords, ..error })
    }

    fn unknown(&self, what: &str, name: &str, known: &[&str]) -> UserError {
        let host = &self.host.name;
        let message = match (name, known.is_empty()) {
            (_, true) => format!("host {host} has no {what}"),
            ("", _) => format!("`{}` needs a {what} of host {host}", self.verb),
            (name, _) => format!("host {host} has no {what} `{name}`"),
        };
        let hint = match did_you_mean(name, known.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None if known.is_empty() => "the topology file lists what hosts have".to_owned(),
            None => format!("one of: {}", known.join(", ")),
        };
        UserError::usage(Code::LabFaultWords, message, hint)
    }

    fn wrong(&self, message: &str) -> UserError {
        let host = &self.host.name;
        UserError::usage(Code::LabFaultWords, format!("host {host}: {message}"), SHAPES)
    }
}

/// Whether `word` looks like a quantity, which starts with a digit or a dot.
fn is_quantity(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.')
}

/// Formats a fault as [`parse_fault`] reads it.
impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = self.verb();
        match self {
            Self::Kill { service } | Self::Stop { service } | Self::Pause { service } => {
                write!(f, "{verb} {service}")
            }
            Self::Cut { interface } => write!(f, "{verb} {interface}"),
            Self::Drop { interface, share_ppm } => {
                write!(f, "{verb} {}% {interface}", f64::from(*share_ppm) / 1e4)
            }
            Self::Files { service, limit } => write!(f, "{verb} {service} {limit}"),
            Self::Slow { service, delay } if delay.0 % 1_000_000 == 0 => {
                write!(f, "{verb} {service} {}ms", delay.0 / 1_000_000)
            }
            Self::Slow { service, delay } => write!(f, "{verb} {service} {}us", delay.0 / 1_000),
        }
    }
}
