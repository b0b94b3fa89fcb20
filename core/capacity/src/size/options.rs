//! [`SizeOptions`]: the arguments of `wavetank size` about hosts and about the traffic of a
//! connection.

use wavetank_units::quantity::parse_count_positive;
use wavetank_units::{Code, Nanos, UserError};

use super::capacity::RoleCapacity;
use super::{Balancing, Role};

/// Maximum number of hosts, far above any real installation.
const HOSTS_MAX: u64 = 1_000_000_000;

/// The arguments of `wavetank size` other than the load; `None` and empty mean *not given*.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeOptions {
    /// `--hold`.
    pub hold: Option<Nanos>,
    /// `--service`.
    pub service: Option<Nanos>,
    /// `--request-bytes`.
    pub request_bytes: Option<u64>,
    /// `--answer-bytes`.
    pub answer_bytes: Option<u64>,
    /// `--balancer`.
    pub balancer: Option<Balancing>,
    /// `--capacity`, in order.
    pub capacity: Vec<(Role, RoleCapacity)>,
    /// `--hosts`, in order.
    pub hosts: Vec<(Role, u64)>,
    /// `--spare`.
    pub spare: Option<u64>,
    /// `--memory`.
    pub memory: Option<u64>,
    /// `--link`, in bits a second.
    pub link: Option<u64>,
    /// `--ports`.
    pub ports: Option<PortsOption>,
    /// `--targets`.
    pub targets: Option<u64>,
    /// `--backends`.
    pub backends: Option<u64>,
    /// Addresses of `--source`, or of the file's `sources`.
    pub sources: Option<u64>,
}

/// `--ports`: how many one address has, or which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortsOption {
    /// A number of ports.
    Count(u64),
    /// From the first to the last.
    Range(u16, u16),
}

impl PortsOption {
    /// Reads `64k` or `15000-65000`.
    ///
    /// # Errors
    /// More than there are, none, a range that runs backwards.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let example = "64k, or first and last: 1024-65535";
        if let Some((first, last)) = text.split_once('-').filter(|(first, _)| !first.is_empty()) {
            let port = |word: &str| word.trim().parse::<u16>().ok().filter(|port| *port > 0);
            return match (port(first), port(last)) {
                (Some(first), Some(last)) if first <= last => Ok(Self::Range(first, last)),
                _ => Err(UserError::usage(
                    Code::BadPorts,
                    format!("`{text}` is not a range of ports"),
                    example,
                )),
            };
        }
        let count = parse_count_positive(text)?;
        if count > 65_535 {
            let message = format!("`{text}`: an address has no more than 65,535 ports");
            return Err(UserError::usage(Code::Overflow, message, example));
        }
        Ok(Self::Count(count))
    }
}

impl SizeOptions {
    /// Reads `load=20` of `--hosts`.
    ///
    /// # Errors
    /// On anything else, with a hint.
    pub fn parse_hosts(text: &str) -> Result<(Role, u64), UserError> {
        let Some((role, count)) = text.split_once('=') else {
            let message = format!("`{text}` is not a role and a number");
            return Err(UserError::usage(Code::BadHosts, message, "ROLE=N: load=20, balancer=2, server=10"));
        };
        let count = parse_count_positive(count.trim())?;
        if count > HOSTS_MAX {
            return Err(UserError::usage(Code::Overflow, format!("`{text}` is out of range"), "far fewer"));
        }
        Ok((Role::parse(role.trim())?, count))
    }

    /// Returns the first option that is about a balancer.
    pub(super) fn balancer_only_option(&self) -> Option<&'static str> {
        let capacity = self.capacity.iter().any(|(role, _)| *role == Role::Balancer);
        let hosts = self.hosts.iter().any(|(role, _)| *role == Role::Balancer);
        [
            ("--capacity balancer", capacity),
            ("--hosts balancer", hosts),
            ("--backends", self.backends.is_some()),
        ]
        .into_iter()
        .find(|(_, given)| *given)
        .map(|(name, _)| name)
    }
}
