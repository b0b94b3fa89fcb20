//! Source addresses: `--source CIDR|RANGE,…`, and whether this host owns them.

use std::net::IpAddr;

use wavetank_units::{Code, Network, SourceRange, UserError, address_from_number, address_number};

use crate::HostFacts;

/// Most ranges one run may name.
const RANGES_MAX: usize = 4_096;

/// Parses `10.0.8.0/28`, `10.0.8.1-10.0.8.14`, `10.0.8.1-14`, `127.0.0.1`, several joined by
/// commas.
///
/// Fails on other text, on ranges that run backwards, and on ranges that overlap, because one
/// address would then belong to two ranges.
pub fn parse_sources(text: &str) -> Result<Vec<SourceRange>, UserError> {
    let mut ranges: Vec<SourceRange> = Vec::new();
    for word in text.split(',').map(str::trim) {
        let range = parse_one(word)?;
        if let Some(other) = ranges.iter().find(|other| overlap(**other, range)) {
            let message = format!("`{word}` overlaps {} to {}", other.first, other.last);
            return Err(UserError::usage(Code::BadSource, message, "name every address once"));
        }
        ranges.push(range);
        if ranges.len() > RANGES_MAX {
            let message = format!("more than {RANGES_MAX} source ranges");
            return Err(UserError::usage(Code::BadSource, message, "join neighbours: 10.0.8.0/24"));
        }
    }
    Ok(ranges)
}

fn parse_one(word: &str) -> Result<SourceRange, UserError> {
    let bad = |why: &str| {
        let hint = if word == "auto" {
            "auto cannot be combined: it means all addresses of the interface towards the target"
        } else {
            "auto, or a network 10.0.8.0/28, a range 10.0.8.1-10.0.8.14, an address, joined by commas"
        };
        UserError::usage(Code::BadSource, format!("`{word}` {why}"), hint)
    };
    if let Some(network) = Network::parse(word) {
        return Ok(network.bindable());
    }
    let (first, last) = word.split_once('-').ok_or_else(|| bad("is not a source address"))?;
    let first: IpAddr = first.trim().parse().map_err(|_| bad("is not a source address"))?;
    let last = last_of(first, last.trim()).ok_or_else(|| bad("is not a source address"))?;
    if first.is_ipv4() != last.is_ipv4() {
        return Err(bad("mixes IPv4 and IPv6"));
    }
    if address_number(first) > address_number(last) {
        return Err(bad("is reversed"));
    }
    Ok(SourceRange { first, last })
}

/// The end of a range: an address, or for IPv4 only its last part (`10.0.8.1-14`).
fn last_of(first: IpAddr, text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let IpAddr::V4(first) = first else { return None };
    let [a, b, c, _] = first.octets();
    Some(IpAddr::from([a, b, c, text.parse().ok()?]))
}

fn overlap(left: SourceRange, right: SourceRange) -> bool {
    left.first.is_ipv4() == right.first.is_ipv4()
        && address_number(left.first) <= address_number(right.last)
        && address_number(right.first) <= address_number(left.last)
}

/// Refuses (exit 5) a range with an address this host cannot bind, naming the first such.
pub(crate) fn check_local(ranges: &[SourceRange], host: &HostFacts) -> Result<(), UserError> {
    for range in ranges {
        if let Some(foreign) = first_foreign(*range, host) {
            let local: Vec<String> = host.addresses.iter().map(ToString::to_string).collect();
            return Err(UserError::refused(
                Code::NoSuchSource,
                format!("no such source address: {foreign} is not an address of this host"),
                format!("this host has {}; add one: ip addr add {foreign} dev DEVICE", list(&local)),
            ));
        }
    }
    Ok(())
}

fn list(words: &[String]) -> String {
    match words {
        [] => "none".to_owned(),
        few if few.len() <= 6 => few.join(", "),
        some => format!("{} and {} more", some[..6].join(", "), some.len() - 6),
    }
}

/// Returns the lowest address of `range` that is not covered by an interface or a local route.
fn first_foreign(range: SourceRange, host: &HostFacts) -> Option<IpAddr> {
    let v4 = range.first.is_ipv4();
    let singles = host.addresses.iter().map(|address| Network::new(*address, u8::MAX));
    let networks = host.local_networks.iter().map(|(address, prefix)| Network::new(*address, *prefix));
    let mut covers: Vec<(u128, u128)> =
        singles.chain(networks).filter(|network| network.is_ipv4() == v4).map(Network::span).collect();
    covers.sort_unstable();
    let mut next = address_number(range.first);
    for (low, high) in covers {
        if low > next {
            break;
        }
        if high >= next {
            next = high.checked_add(1)?;
        }
    }
    (next <= address_number(range.last)).then(|| address_from_number(next, v4))
}
