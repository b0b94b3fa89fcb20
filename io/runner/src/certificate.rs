//! [`certificate_lines`]: what a certificate says, for people.

use std::net::IpAddr;

use wavetank_record::WallTime;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::time::Time;

/// Names listed in full would be pages for certificates of large sites.
const NAMES_MAX: usize = 8;
const NS_PER_S: i64 = 1_000_000_000;
const S_PER_DAY: i64 = 86_400;

/// Returns subject, names, issuer and validity of a DER certificate, as lines of `--once`. `now` is
/// wall time in nanoseconds since 1970.
pub fn certificate_lines(der: &[u8], now: i64) -> Vec<String> {
    let Ok(certificate) = Certificate::from_der(der) else {
        return vec!["  subject  (a certificate that cannot be read)".to_owned()];
    };
    let certificate = certificate.tbs_certificate();
    let validity = certificate.validity();
    let (from, until) = (seconds(validity.not_before), seconds(validity.not_after));
    let names = certificate.get_extension().ok().flatten().map(|(_, names)| names_of(&names));
    [
        ("subject", certificate.subject().to_string()),
        ("names", names.unwrap_or_default()),
        ("issuer", certificate.issuer().to_string()),
        ("valid", format!("{} to {}, {}", day(from), day(until), standing(from, until, now / NS_PER_S))),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(name, value)| format!("  {name:<8} {}", harmless(&value)))
    .collect()
}

/// The names it is good for (subjectAltName, RFC 5280 §4.2.1.6).
fn names_of(SubjectAltName(all): &SubjectAltName) -> String {
    let mut names: Vec<String> = all.iter().take(NAMES_MAX).map(name).collect();
    if all.len() > NAMES_MAX {
        names.push(format!("and {} more", all.len() - NAMES_MAX));
    }
    names.join(", ")
}

fn name(name: &GeneralName) -> String {
    match name {
        GeneralName::DnsName(name) | GeneralName::UniformResourceIdentifier(name) => name.to_string(),
        GeneralName::IpAddress(bytes) => address(bytes.as_bytes()),
        // No host is reached by such names.
        _ => "(a name of another kind)".to_owned(),
    }
}

fn address(bytes: &[u8]) -> String {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    let address = v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from));
    address.map_or_else(|_| "(no address)".to_owned(), |address| address.to_string())
}

/// Seconds since 1970.
fn seconds(time: Time) -> i64 {
    i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX)
}

/// How far the end is, or that it is past, at `now` in seconds since 1970.
fn standing(from: i64, until: i64, now: i64) -> String {
    match (now < from, until - now) {
        (true, _) => "not valid yet".to_owned(),
        (_, left) if left < 0 => format!("expired {} ago", days(-left)),
        (_, left) => format!("{} left", days(left)),
    }
}

fn days(seconds: i64) -> String {
    match seconds / S_PER_DAY {
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

/// `2026-11-21`.
fn day(seconds: i64) -> String {
    // Certificates from before 1970 are not worth more.
    let wall = WallTime(seconds.max(0).unsigned_abs().saturating_mul(NS_PER_S.unsigned_abs())).rfc3339();
    wall.split('T').next().unwrap_or_default().to_owned()
}

/// Text from outside must not control a terminal.
fn harmless(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = S_PER_DAY;

    #[test]
    fn the_current_position_is_reported() {
        for (from, until, now, expected) in [
            (0, 10 * DAY, 3 * DAY, "7 days left"),
            (0, 10 * DAY, 10 * DAY - 5, "0 days left"),
            (0, 10 * DAY, 11 * DAY + 5, "expired 1 day ago"),
            (5, 10 * DAY, 4, "not valid yet"),
        ] {
            assert_eq!(standing(from, until, now), expected);
        }
        assert_eq!(day(1_795_219_200), "2026-11-21");
        assert_eq!(day(-5), "1970-01-01");
    }

    #[test]
    fn what_is_no_certificate_is_reported() {
        assert!(certificate_lines(b"\x30\x03abc", 0)[0].contains("cannot be read"));
        assert_eq!(address(&[127, 0, 0, 1]), "127.0.0.1");
        assert_eq!((address(&[0; 16]), address(&[1])), ("::".to_owned(), "(no address)".to_owned()));
        assert_eq!(harmless("a\x1b[1m\nb"), "a\u{fffd}[1m\u{fffd}b");
    }
}
