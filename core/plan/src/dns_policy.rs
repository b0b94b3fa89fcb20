//! How names are resolved: [`DnsPolicy`] and [`IpFamily`].

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

/// When names are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DnsPolicy {
    /// Once, before the load; all addresses are used in turn.
    Once,
    /// As fresh as possible without any session waiting: once a second.
    EachSession,
    /// This time after the last answer.
    Every(Nanos),
}

/// Version of the Internet Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IpFamily {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl IpFamily {
    /// Whether `address` belongs to the family.
    pub fn contains(self, address: std::net::IpAddr) -> bool {
        match self {
            Self::V4 => address.is_ipv4(),
            Self::V6 => address.is_ipv6(),
        }
    }
}
