//! Formats quantities for reports, each with its unit.

use super::format_grouped;

/// Formats a rate: `0.5/s`, `12.4/s`, `5,000/s`. Slow rates are per minute or per hour: `7/min`,
/// `1/h`. Below 1,000 it has three digits.
pub fn show_rate(per_second: f64) -> String {
    rate_with_unit(per_second, "")
}

/// Formats a rate of requests: `5,000 req/s`, `7 req/min`.
pub fn show_request_rate(per_second: f64) -> String {
    rate_with_unit(per_second, " req")
}

fn rate_with_unit(per_second: f64, unit: &str) -> String {
    let (value, per) = match per_second {
        v if v == 0.0 || v >= 0.0995 => (v, "s"),
        v if v * 60.0 >= 0.995 => (v * 60.0, "min"),
        v => (v * 3_600.0, "h"),
    };
    if value >= 999.5 {
        return format!("{}{unit}/{per}", format_grouped(value.round() as u64));
    }
    let digits = digits(value);
    format!("{}{unit}/{per}", trimmed(&digits))
}

/// A size in decimal units: `512 B`, `1.3 kB`, `12.4 kB`, `1.0 GB`.
pub fn show_size(bytes: u64) -> String {
    let (value, unit) = match bytes {
        0..1_000 => return format!("{bytes} B"),
        1_000..999_500 => (bytes as f64 / 1e3, "kB"),
        999_500..999_500_000 => (bytes as f64 / 1e6, "MB"),
        999_500_000..999_500_000_000 => (bytes as f64 / 1e9, "GB"),
        _ => (bytes as f64 / 1e12, "TB"),
    };
    let decimals = usize::from(value < 99.95);
    format!("{value:.decimals$} {unit}")
}

/// Formats a link's rate in bits per second: `0 bit/s`, `400 bit/s`, `1.23 Mbit/s`, `100 Mbit/s`,
/// `2.00 Gbit/s`.
pub fn show_link(bits_per_s: f64) -> String {
    let (value, unit) = match bits_per_s {
        v if v >= 999.5e9 => (v / 1e12, "Tbit/s"),
        v if v >= 999.5e6 => (v / 1e9, "Gbit/s"),
        v if v >= 999.5e3 => (v / 1e6, "Mbit/s"),
        v if v >= 999.5 => (v / 1e3, "kbit/s"),
        v => return format!("{v:.0} bit/s"),
    };
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$} {unit}")
}

/// Formats a needed and an available size with enough digits to distinguish them: both could
/// otherwise read `23.5 GB`.
pub fn format_sizes_distinct(needed: u64, has: u64) -> (String, String) {
    let (short, shorter) = (show_size(needed), show_size(has));
    if short != shorter || needed == has {
        return (short, shorter);
    }
    let digits = |bytes: u64, decimals: usize| format!("{:.decimals$} GB", bytes as f64 / 1e9);
    let both = |decimals| (digits(needed, decimals), digits(has, decimals));
    // Nine decimals of a gigabyte are a byte.
    (2..9).map(both).find(|(needed, has)| needed != has).unwrap_or_else(|| both(9))
}

/// Formats a share: `0 %`, `0.02 %`, `1.5 %`, `100 %`. Below a hundredth of a percent it is shown
/// as such, because one failure in a million must not read as none.
pub fn show_share(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 {
        return "0 %".to_owned();
    }
    if percent < 0.005 {
        return "< 0.01 %".to_owned();
    }
    let text = match percent {
        p if p < 9.995 => format!("{p:.2}"),
        p if p < 99.95 => format!("{p:.1}"),
        // Whatever is missing stays to be seen.
        p if p < 100.0 => format!("{:.2}", p.min(99.99)),
        p => format!("{p:.0}"),
    };
    format!("{} %", trimmed(&text))
}

/// A share as it may be typed, exactly: `7%`, `12.5%`.
pub fn share_literal(share: f64) -> String {
    // 0.07 × 100 is not exactly 7 in binary. Digits after the tenth come from that error.
    format!("{}%", (share * 1e12).round() / 1e10)
}

/// Removes trailing zeros after the decimal point: `1.50` becomes `1.5`, `2.00` becomes `2`, and
/// `100` stays.
pub fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

/// Three significant digits, no unit.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        v if v < 0.0995 => 4,
        v if v < 0.995 => 3,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_behind_the_point_alone_are_left_out() {
        for (digits, expected) in [("1.50", "1.5"), ("2.00", "2"), ("100", "100"), ("0", "0"), ("10.0", "10")]
        {
            assert_eq!(trimmed(digits), expected, "{digits}");
        }
    }

    #[test]
    fn shares_are_typed_as_they_were() {
        for text in ["7%", "29%", "10%", "12.5%", "0.1%", "33.3333%", "100%", "0%"] {
            let share = crate::quantity::parse_share(text).expect("a share");
            assert_eq!(share_literal(share), text);
        }
    }

    #[test]
    fn sizes_that_differ_are_shown_differently() {
        let check = |needed, has, expected: (&str, &str)| {
            let (one, other) = format_sizes_distinct(needed, has);
            assert_eq!((one.as_str(), other.as_str()), expected);
        };
        check(24_000_000_000, 23_500_000_000, ("24.0 GB", "23.5 GB"));
        check(23_512_000_000, 23_476_000_000, ("23.51 GB", "23.48 GB"));
        check(23_500_000_001, 23_500_000_000, ("23.500000001 GB", "23.500000000 GB"));
        check(1_000, 1_000, ("1.0 kB", "1.0 kB"));
        check(81_340_000, 81_320_000, ("0.08134 GB", "0.08132 GB"));
    }
}
