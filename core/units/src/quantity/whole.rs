//! Formats whole numbers that are known before any measurement. They are exact, so no digit is
//! dropped.

use super::trimmed;
use crate::Nanos;

/// Every digit, in groups of three: `4,800`, `100,000,000`.
pub fn format_grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number as in a file where that is exact with four digits: `15k`, `3.48M`; otherwise as
/// [`format_grouped`].
pub fn format_compact(count: u64) -> String {
    for (unit, size) in [("G", 1_000_000_000_u64), ("M", 1_000_000), ("k", 1_000)] {
        let hundredth = size / 100;
        if count >= size && count.is_multiple_of(hundredth) && count / size < 1_000 {
            let text = format!("{}.{:02}", count / size, count % size / hundredth);
            return format!("{}{unit}", trimmed(&text));
        }
    }
    format_grouped(count)
}

/// Formats an instant or a duration like a clock: `20s`, `50m00s`, `1h40m00s`, `2d03h00m`.
/// Fractions of a second appear only below ten seconds.
pub fn show_clock(at: Nanos) -> String {
    let sign = if at < Nanos::ZERO { "-" } else { "" };
    let ns = at.0.unsigned_abs();
    if ns < 10_000_000_000 && !ns.is_multiple_of(1_000_000_000) {
        return format!("{sign}{}s", trimmed(&format!("{:.3}", ns as f64 / 1e9)));
    }
    let seconds = (ns + 500_000_000) / 1_000_000_000;
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{sign}{seconds}s"),
        (0, 0, _) => format!("{sign}{minutes}m{seconds:02}s"),
        (0, ..) => format!("{sign}{hours}h{minutes:02}m{seconds:02}s"),
        _ => format!("{sign}{days}d{hours:02}h{minutes:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_digit_is_dropped() {
        for (count, whole, short) in [
            (0, "0", "0"),
            (999, "999", "999"),
            (1_000, "1,000", "1k"),
            (15_000, "15,000", "15k"),
            (4_800, "4,800", "4.8k"),
            (4_803, "4,803", "4,803"),
            (3_480_000, "3,480,000", "3.48M"),
            (10_000_000, "10,000,000", "10M"),
            (1_234_567, "1,234,567", "1,234,567"),
        ] {
            assert_eq!((format_grouped(count).as_str(), format_compact(count).as_str()), (whole, short));
        }
    }

    #[test]
    fn clocks_read_like_clocks() {
        for (ns, text) in [
            (0, "0s"),
            (1_500_000_000, "1.5s"),
            (20_000_000_000, "20s"),
            (3_000_000_000_000, "50m00s"),
            (6_000_000_000_000, "1h40m00s"),
            (183_600_000_000_000, "2d03h00m"),
            (-3_000_000_000, "-3s"),
        ] {
            assert_eq!(show_clock(Nanos(ns)), text);
        }
    }
}
