//! [`check_sources_distinct`]: hosts of a fleet may not share a source address.

use std::net::IpAddr;

use wavetank_plan::SourcesPlan;
use wavetank_units::{Code, UserError};

/// Checks that no address is a source of two hosts. Responses to it reach only one of them.
///
/// # Errors
/// A usage error that names both hosts and the first address that they share.
pub(super) fn check_sources_distinct<'a>(
    hosts: impl Iterator<Item = (&'a str, &'a SourcesPlan)>,
) -> Result<(), UserError> {
    let ranges = |(name, sources): (&'a str, &'a SourcesPlan)| {
        sources.ranges.iter().map(move |range| (range.first, range.last, name))
    };
    let mut all: Vec<(IpAddr, IpAddr, &str)> = hosts.flat_map(ranges).collect();
    all.sort_unstable();
    // The range so far that reaches farthest.
    let mut known: Option<(IpAddr, &str)> = None;
    for (first, last, name) in all {
        if let Some((end, other)) = known
            && first <= end
            && other != name
        {
            let message = format!("hosts {other} and {name} have the same source address {first}");
            let hint = "give each host addresses of its own in `sources`: responses reach only one of them";
            return Err(UserError::usage(Code::FleetSourcesShared, message, hint));
        }
        known = Some(known.filter(|(end, _)| *end >= last).unwrap_or((last, name)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use wavetank_units::SourceRange;

    use super::*;

    #[test]
    fn an_address_of_two_hosts_is_refused() {
        let check = |hosts: &[(&str, &str, &str)], shared: Option<&str>| {
            let plan = |first: &str, last: &str| {
                let address = |text: &str| text.parse().expect("an address");
                let ranges = vec![SourceRange { first: address(first), last: address(last) }];
                SourcesPlan { ranges, ..SourcesPlan::default() }
            };
            let all: Vec<_> = hosts.iter().map(|(name, first, last)| (*name, plan(first, last))).collect();
            let found = check_sources_distinct(all.iter().map(|(name, sources)| (*name, sources)));
            assert_eq!(found.err().map(|error| error.message).as_deref(), shared, "{hosts:?}");
        };
        check(&[("a", "10.0.0.1", "10.0.0.9"), ("b", "10.0.0.10", "10.0.0.19")], None);
        check(&[("a", "10.0.0.1", "10.0.0.9"), ("a", "10.0.0.5", "10.0.0.7")], None);
        let same = "hosts a and b have the same source address 10.0.0.9";
        check(&[("b", "10.0.0.9", "10.0.0.9"), ("a", "10.0.0.1", "10.0.0.9")], Some(same));
        let within = "hosts a and b have the same source address 10.0.0.8";
        check(
            &[("a", "10.0.0.1", "10.0.0.9"), ("a", "10.0.0.2", "10.0.0.3"), ("b", "10.0.0.8", "10.0.0.20")],
            Some(within),
        );
        check(&[("a", "10.0.0.1", "10.0.0.9"), ("b", "fd00::1", "fd00::9")], None);
        check(&[], None);
    }
}
