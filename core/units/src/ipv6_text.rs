//! IPv6 addresses as people write them: with a zone, and without the brackets that a port needs.

use std::net::Ipv6Addr;

/// Splits the zone (RFC 4007 §11) off an address without brackets: `fe80::1%eth0` is `fe80::1` and
/// `eth0`. Other hosts have none.
pub fn split_zone(host: &str) -> (&str, Option<&str>) {
    match host.split_once('%') {
        Some((address, zone)) if address.parse::<Ipv6Addr>().is_ok() => (address, Some(zone)),
        _ => (host, None),
    }
}

/// Removes the zone of an IPv6 address in brackets from what follows `://` in a URL. Returns the
/// text without it, and the zone.
///
/// A URL has `%25` before the zone (RFC 6874). A plain `%` is accepted, as by curl.
pub fn without_zone(rest: &str) -> (String, Option<String>) {
    let parts = rest.strip_prefix('[').and_then(|inside| {
        let (host, behind) = inside.split_once(']')?;
        let (address, zone) = host.split_once('%')?;
        let zone = zone.strip_prefix("25").filter(|zone| !zone.is_empty()).unwrap_or(zone);
        let is_zone =
            !zone.is_empty() && zone.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~@".contains(&b));
        (is_zone && address.parse::<Ipv6Addr>().is_ok()).then_some((address, zone, behind))
    });
    match parts {
        Some((address, zone, behind)) => (format!("[{address}]{behind}"), Some(zone.to_owned())),
        None => (rest.to_owned(), None),
    }
}

/// Returns `text`, which is an IPv6 address with or without a port, with the brackets that it
/// lacks: `[::1]:8080` for `::1:8080`. `None`: it is no IPv6 address, or has its brackets.
pub fn with_brackets(text: &str) -> Option<String> {
    let is_address = |text: &str| split_zone(text).0.parse::<Ipv6Addr>().is_ok();
    let with_port = text.rsplit_once(':').filter(|(address, port)| {
        // A last part that is no decimal number belongs to the address.
        is_address(address) && port.parse::<u16>().is_ok_and(|port| port != 0)
    });
    match with_port {
        Some((address, port)) => Some(format!("[{address}]:{port}")),
        None => is_address(text).then(|| format!("[{text}]")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_added_where_they_lack() {
        for (text, bracketed) in [
            ("::1:8080", Some("[::1]:8080")),
            ("::1", Some("[::1]")),
            ("fd00::5:443", Some("[fd00::5]:443")),
            ("fe80::1%eth0:80", Some("[fe80::1%eth0]:80")),
            ("2001:db8:0:0:0:0:0:1", Some("[2001:db8:0:0:0:0:0:1]")),
            ("2001:db8:0:0:0:0:0:1:80", Some("[2001:db8:0:0:0:0:0:1]:80")),
            ("fd00::beef", Some("[fd00::beef]")),
            ("[::1]:80", None),
            ("localhost:80", None),
            (":8080", None),
            ("a:1:b:2", None),
        ] {
            assert_eq!(with_brackets(text).as_deref(), bracketed, "{text}");
        }
    }

    #[test]
    fn a_zone_is_taken_out_of_a_url() {
        for (text, rest, zone) in [
            ("[fe80::1%25eth0]:80/a%25b", "[fe80::1]:80/a%25b", Some("eth0")),
            ("[fe80::1%2]", "[fe80::1]", Some("2")),
            ("[fe80::1%25]/", "[fe80::1]/", Some("25")),
            ("[fe80::1%]/", "[fe80::1%]/", None),
            ("[::1]:80/%25", "[::1]:80/%25", None),
            ("host/[::1%25lo]", "host/[::1%25lo]", None),
        ] {
            assert_eq!(without_zone(text), (rest.to_owned(), zone.map(str::to_owned)), "{text}");
        }
        assert_eq!(split_zone("fe80::1%eth0"), ("fe80::1", Some("eth0")));
        assert_eq!(split_zone("50%off"), ("50%off", None));
    }
}
