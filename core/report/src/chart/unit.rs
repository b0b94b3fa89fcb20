//! [`Unit`]: the unit of a chart's numbers, and their format.

use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_link, show_rate, show_share, show_size};

/// The unit of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Something per second.
    Rate,
    /// A number of things.
    Count,
    /// A share; 1 is everything.
    Share,
    /// Bytes.
    Bytes,
    /// Bits per second, as the hosts' tables have them.
    BitRate,
    /// A number without unit, such as how busy cores were.
    Plain,
}

impl Unit {
    /// A value with its unit: `12.3 ms`, `9,983/s`.
    pub(super) fn value(self, value: f64) -> String {
        if !value.is_finite() {
            return String::new();
        }
        if value < 0.0 {
            return format!("−{}", self.value(-value));
        }
        // No counter exceeds this; the conversions below saturate there.
        if value >= 1e15 && self != Self::Time {
            return format!("{value:.2e}{}", self.suffix());
        }
        match self {
            Self::Time => Nanos(value.round() as i64).to_string(),
            Self::Rate => show_rate(value),
            Self::Count if value > 0.0 && value < 99.5 && value.fract() != 0.0 => trimmed(value, 1),
            Self::Count => format_grouped(value.round() as u64),
            Self::Share => show_share(value),
            Self::Bytes => show_size(value.round() as u64),
            Self::BitRate => show_link(value),
            Self::Plain => trimmed(value, if value < 9.995 { 2 } else { usize::from(value < 99.95) }),
        }
    }

    /// Formats a value at a tick of an axis that ends at `top`. The whole axis has one unit, and
    /// only as many digits as `step` needs.
    pub(super) fn tick(self, value: f64, step: f64, top: f64) -> String {
        let top = top.abs();
        let (size, name) = self.sizes(top);
        let value = value / size;
        if value == 0.0 {
            return "0".to_owned();
        }
        let sign = if value < 0.0 { "−" } else { "" };
        let step = (step / size).abs();
        if top / size >= 1e5 || step < 1e-6 {
            return format!("{sign}{:.0e}{name}", value.abs());
        }
        // One digit more than the first digit of the step, because a step of 2.5 has two.
        let decimals = (-step.log10().floor()).max(0.0) as usize + 1;
        let digits = trimmed(value.abs(), decimals);
        let digits = match digits.split_once('.') {
            None if digits.len() == 4 => format!("{},{}", &digits[..1], &digits[1..]),
            _ => digits,
        };
        format!("{sign}{digits}{name}")
    }

    /// The smallest step between ticks; 0 if there is no minimum. Counts have no fractions.
    pub(super) fn step_min(self) -> f64 {
        match self {
            Self::Count | Self::Bytes | Self::Time => 1.0,
            _ => 0.0,
        }
    }

    /// The upper end of an axis that has only zeros.
    pub(super) fn one(self) -> f64 {
        match self {
            Self::Time => 1e6,
            Self::Share => 0.01,
            Self::Bytes | Self::BitRate => 1e3,
            _ => 1.0,
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::Time => " ns",
            Self::Rate => "/s",
            Self::Bytes => " B",
            Self::BitRate => " bit/s",
            Self::Share => " × 100 %",
            Self::Count | Self::Plain => "",
        }
    }

    fn sizes(self, top: f64) -> (f64, &'static str) {
        let of = |sizes: &[(f64, f64, &'static str)]| {
            let fits = sizes.iter().rev().find(|(from, ..)| top >= *from).unwrap_or(&sizes[0]);
            (fits.1, fits.2)
        };
        match self {
            Self::Time => of(&[(0.0, 1.0, " ns"), (1e3, 1e3, " µs"), (1e6, 1e6, " ms"), (1e9, 1e9, " s")]),
            Self::Rate => of(&[(0.0, 1.0, "/s"), (1e4, 1e3, " k/s"), (1e6, 1e6, " M/s"), (1e9, 1e9, " G/s")]),
            Self::Count | Self::Plain => {
                of(&[(0.0, 1.0, ""), (1e4, 1e3, " k"), (1e6, 1e6, " M"), (1e9, 1e9, " G")])
            }
            Self::Share => (0.01, " %"),
            Self::Bytes => of(&[
                (0.0, 1.0, " B"),
                (1e3, 1e3, " kB"),
                (1e6, 1e6, " MB"),
                (1e9, 1e9, " GB"),
                (1e12, 1e12, " TB"),
            ]),
            Self::BitRate => of(&[
                (0.0, 1.0, " bit/s"),
                (1e3, 1e3, " kbit/s"),
                (1e6, 1e6, " Mbit/s"),
                (1e9, 1e9, " Gbit/s"),
                (1e12, 1e12, " Tbit/s"),
            ]),
        }
    }
}

/// `value` with this many decimals, without zeros at the end.
fn trimmed(value: f64, decimals: usize) -> String {
    wavetank_units::quantity::trimmed(&format!("{value:.decimals$}")).to_owned()
}

/// Formats an instant as a clock on an axis that spans `span`: `00:41`, from an hour on `1h02`,
/// from two days on `2d03h`; below ten seconds `1.5 s`. An axis of up to two hours shows its first
/// hour as `05:00`.
pub(super) fn clock(at: Nanos, span: Nanos) -> String {
    let ns = at.0.unsigned_abs();
    if span < Nanos::from_secs(10) {
        // A thousandth of the axis is less than a pixel of it.
        let decimals = (3 - (span.0.max(1) as f64 / 1e9).log10().floor() as i32).clamp(0, 9) as usize;
        let text = trimmed(ns as f64 / 1e9, decimals);
        let sign = if at.0 < 0 && text != "0" { "−" } else { "" };
        return format!("{sign}{text} s");
    }
    // The middle of a second belongs to the second that has started: a column and the point in its
    // middle have the same name.
    let s = (ns + 499_999_999 + u64::from(at.0 < 0)) / 1_000_000_000;
    let sign = if at.0 < 0 && s > 0 { "−" } else { "" };
    if s < 3_600 && span < Nanos::from_secs(7_200) {
        return format!("{sign}{:02}:{:02}", s / 60, s % 60);
    }
    let whole = s.is_multiple_of(60);
    match (span < Nanos::from_secs(48 * 3_600), whole) {
        (true, true) => format!("{sign}{}h{:02}", s / 3_600, s / 60 % 60),
        (true, false) => format!("{sign}{}h{:02}:{:02}", s / 3_600, s / 60 % 60, s % 60),
        (false, _) if span > Nanos::from_secs(20 * 86_400) => format!("{sign}{}d", s / 86_400),
        (false, _) => format!("{sign}{}d{:02}h", s / 86_400, s / 3_600 % 24),
    }
}

/// [`clock`] with tenths of a second, for an axis of up to two hours: `00:41.5`.
pub(super) fn clock_in_tenths(at: Nanos) -> String {
    let tenths = (at.0.unsigned_abs() + 50_000_000) / 100_000_000;
    let sign = if at.0 < 0 && tenths > 0 { "−" } else { "" };
    format!("{sign}{:02}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_an_axis_share_a_unit() {
        for (unit, value, step, top, expected) in [
            (Unit::Time, 2.5e6, 2.5e6, 1e7, "2.5 ms"),
            (Unit::Time, 0.0, 2.5e6, 1e7, "0"),
            (Unit::Time, 5e8, 5e8, 1.5e9, "0.5 s"),
            (Unit::Rate, 2_500.0, 2_500.0, 1e4, "2.5 k/s"),
            (Unit::Rate, 1_500.0, 500.0, 2_000.0, "1,500/s"),
            (Unit::Share, 0.005, 0.005, 0.01, "0.5 %"),
            (Unit::Share, 0.00025, 0.00025, 0.001, "0.025 %"),
            (Unit::Count, -20.0, 20.0, 40.0, "−20"),
            (Unit::Plain, 0.25, 0.25, 1.0, "0.25"),
            (Unit::Bytes, 2e9, 1e9, 3e9, "2 GB"),
            (Unit::Count, 1e17, 1e17, 5e17, "1e8 G"),
        ] {
            assert_eq!(unit.tick(value, step, top), expected, "{unit:?} {value}");
        }
    }

    #[test]
    fn values_have_three_digits() {
        for (unit, value, expected) in [
            (Unit::Time, 12_345_678.0, "12.3 ms"),
            (Unit::Rate, 9_983.0, "9,983/s"),
            (Unit::Rate, -9_983.0, "−9,983/s"),
            (Unit::Count, 12.5, "12.5"),
            (Unit::Share, 0.0123, "1.23 %"),
            (Unit::BitRate, 1_234_567.0, "1.23 Mbit/s"),
            (Unit::Plain, 3.0, "3"),
            (Unit::Rate, f64::NAN, ""),
        ] {
            assert_eq!(unit.value(value), expected, "{unit:?} {value}");
        }
    }

    #[test]
    fn clocks_fit_their_span() {
        let at = |s: f64, span: i64| clock(Nanos((s * 1e9) as i64), Nanos::from_secs(span));
        assert_eq!(at(41.0, 60), "00:41");
        assert_eq!(at(-10.0, 60), "−00:10");
        assert_eq!(at(1.5, 5), "1.5 s");
        assert_eq!((at(5.5, 60), at(5.6, 60)), ("00:05".to_owned(), "00:06".to_owned()));
        assert_eq!((at(-1.5, 60), at(-0.5, 60)), ("−00:02".to_owned(), "−00:01".to_owned()));
        assert_eq!(
            (at(-0.4, 60), at(-0.000_1, 5)),
            ("00:00".to_owned(), "0 s".to_owned()),
            "zero has no sign"
        );
        let tenths = |ms: i64| clock_in_tenths(Nanos(ms * 1_000_000));
        assert_eq!(
            [tenths(1_530), tenths(-520), tenths(-20), tenths(61_960)],
            ["00:01.5", "−00:00.5", "00:00.0", "01:02.0"]
        );
        assert_eq!(at(2_400.0, 3_600), "40:00");
        assert_eq!(at(3_720.0, 3_700), "1h02");
        assert_eq!(at(2_400.0, 7_200), "0h40");
        assert_eq!(at(3_725.0, 7_200), "1h02:05");
        assert_eq!(at(2.0 * 86_400.0 + 3.0 * 3_600.0, 300_000), "2d03h");
    }
}
