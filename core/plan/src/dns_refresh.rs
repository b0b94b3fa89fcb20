//! [`DnsRefreshPlan`]: names that are looked up again while the load runs.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};
use wavetank_units::quantity::parse_duration_positive;
use wavetank_units::{Code, Nanos, UserError, split_zone};

use crate::{AddressFilter, DnsPolicy, IpFamily, SettingNames, SourcesPlan};

/// The names to look up again, and how often. Load threads never wait for a lookup: a new
/// connection uses the newest addresses that are known when it is opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsRefreshPlan {
    /// How often; never [`DnsPolicy::Once`].
    pub when: DnsPolicy,
    /// Only addresses of this family.
    pub ip: Option<IpFamily>,
    /// The names behind the connection addresses of each target of the plan.
    pub ways: Vec<RefreshedName>,
    /// Addresses that could not be reached before the load, and are not used again.
    #[serde(with = "wavetank_units::portable_addresses")]
    pub unreached: Vec<SocketAddr>,
}

/// The names that the connection addresses of one target come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefreshedName {
    /// Hosts (names, or addresses, which stay what they are) and ports, in order; at least one.
    pub names: Vec<(String, u16)>,
    /// Only the first address of each answer is used, so that the DNS server decides, as with
    /// `pick: dns`.
    pub first_only: bool,
}

impl DnsRefreshPlan {
    /// `None`: names are looked up once, or there are none.
    pub fn new(when: Option<DnsPolicy>, ip: Option<IpFamily>, ways: Vec<RefreshedName>) -> Option<Self> {
        let when = when.filter(|when| *when != DnsPolicy::Once)?;
        let any = ways.iter().flat_map(|way| &way.names).any(|(host, _)| !is_address(host));
        any.then_some(Self { when, ip, ways, unreached: Vec::new() })
    }

    /// How long after an answer one asks again.
    pub const fn pause(&self) -> Nanos {
        match self.when {
            DnsPolicy::Every(time) => time,
            DnsPolicy::Once | DnsPolicy::EachSession => DnsPolicy::EVERY_MIN,
        }
    }

    /// Returns those of the addresses `found` for a name that match the family and `sources`.
    ///
    /// # Errors
    /// No address matches, or a source address reaches none of them.
    pub fn usable(
        &self,
        host: &str,
        found: &[SocketAddr],
        sources: &SourcesPlan,
    ) -> Result<Vec<SocketAddr>, UserError> {
        let names = SettingNames::Options;
        let filter = AddressFilter { ip: self.ip, sources, proxy_protocol: false, names };
        let mut usable = filter.usable_addresses(host, host, found)?;
        if usable.iter().any(|address| !self.unreached.contains(address)) {
            usable.retain(|address| !self.unreached.contains(address));
        }
        Ok(usable)
    }
}

impl RefreshedName {
    /// Creates the entry for one name with all its addresses used in turn.
    pub fn all_addresses(name: (String, u16)) -> Self {
        Self { names: vec![name], first_only: false }
    }
}

impl DnsPolicy {
    /// Names are looked up no more often than this: a resolver is no target.
    pub const EVERY_MIN: Nanos = Nanos::SECOND;

    /// Parses `once`, `each_session` or a time such as `30s`.
    ///
    /// # Errors
    /// Any other text, and times below [`DnsPolicy::EVERY_MIN`].
    pub fn parse(text: &str) -> Result<Self, UserError> {
        match text {
            "once" => Ok(Self::Once),
            "each_session" => Ok(Self::EachSession),
            _ if text.starts_with(|c: char| c.is_ascii_digit()) => {
                let every = parse_duration_positive(text)?;
                if every < Self::EVERY_MIN {
                    let message = format!("looking up names every {every} is too much load for a resolver");
                    return Err(UserError::usage(Code::OutOfRange, message, "1s or longer"));
                }
                Ok(Self::Every(every))
            }
            _ => {
                let message = format!("`{text}` is not a DNS policy");
                Err(UserError::usage(Code::ValueUnknown, message, "once, each_session, or a time: 30s"))
            }
        }
    }
}

/// Returns whether `host` is an address already, so that no lookup is needed.
fn is_address(host: &str) -> bool {
    split_zone(host.trim_start_matches('[').trim_end_matches(']')).0.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(when: &str, host: &str, pause_s: Option<i64>) {
        let when = DnsPolicy::parse(when).expect("a word of names");
        let renewal =
            DnsRefreshPlan::new(Some(when), None, vec![RefreshedName::all_addresses((host.to_owned(), 80))]);
        assert_eq!(renewal.map(|renewal| renewal.pause()), pause_s.map(Nanos::from_secs), "{when:?} {host}");
    }

    #[test]
    fn only_names_are_looked_up_again_and_at_most_once_a_second() {
        check("each_session", "web1", Some(1));
        check("30s", "web1", Some(30));
        check("once", "web1", None);
        check("30s", "127.0.0.1", None);
        check("30s", "::1", None);
        for refused in ["999ms", "0s", "never", ""] {
            assert!(DnsPolicy::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn family_and_sources_hold_for_new_addresses_too() {
        let way = RefreshedName::all_addresses(("web1".to_owned(), 80));
        let renewal =
            DnsRefreshPlan::new(Some(DnsPolicy::EachSession), Some(IpFamily::V4), vec![way]).expect("a name");
        let found = ["[::1]:80", "127.0.0.2:80"].map(|text| text.parse().expect("an address"));
        let usable = |found: &[SocketAddr]| renewal.usable("web1", found, &SourcesPlan::default());
        assert_eq!(usable(&found), Ok(vec![found[1]]));
        assert!(usable(&found[..1]).is_err());
    }
}
