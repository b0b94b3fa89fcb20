//! [`Scale`]: from a value to its place along an axis, and its ticks.

use super::unit::Unit;

/// Values beyond this are drawn at it, because differences of larger ones are not finite.
const VALUE_MAX: f64 = 1e300;
/// A logarithmic axis does not distinguish more decades than this.
const DECADES_MAX: i32 = 15;
/// Minimum distance of other ticks from an end of a logarithmic axis, as a share of an even step
/// between ticks.
const ENDS_APART: f64 = 0.55;

/// An axis from `low` to `high`.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) log: bool,
    step: f64,
    unit: Unit,
    /// Whether there are values below `low`, such as zeros on a logarithmic axis.
    has_less: bool,
}

impl Scale {
    /// An axis that starts or ends at 0, or contains it, with about `ticks` steps.
    pub(super) fn linear(values: impl Iterator<Item = f64>, unit: Unit, ticks: usize) -> Self {
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for value in values.filter(|value| value.is_finite()) {
            let value = value.clamp(-VALUE_MAX, VALUE_MAX);
            (low, high) = (low.min(value), high.max(value));
        }
        // No values, only zeros, or values too small to be distinguished from zero.
        if high - low < 1e-300 {
            (low, high) = (0.0, unit.one());
        }
        Self::around((low, high), unit, ticks)
    }

    /// An axis close around the values, with or without 0, with about `ticks` steps.
    pub(super) fn close(values: impl Iterator<Item = f64> + Clone, unit: Unit, ticks: usize) -> Self {
        let (low, high) = values
            .clone()
            .filter(|value| value.is_finite() && value.abs() < VALUE_MAX)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        // Values that are so close, or so large, have no ticks between them, or the ticks would
        // share one name.
        let is_wide = high - low > low.abs().max(high.abs()) * 1e-6 && high - low < VALUE_MAX;
        let close = is_wide.then(|| Self::around((low, high), unit, ticks));
        let differ = |scale: &Self| scale.ticks(ticks).windows(2).all(|two| two[0].1 != two[1].1);
        close.filter(differ).unwrap_or_else(|| Self::linear(values, unit, ticks))
    }

    /// From `low` to `high`, out to the next ticks.
    fn around((low, high): (f64, f64), unit: Unit, ticks: usize) -> Self {
        let step = nice((high - low) / ticks.max(1) as f64).max(unit.step_min());
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        Self { low, high, log: false, step, unit, has_less: false }
    }

    /// A logarithmic axis around the positive values, between numbers that start with 1, 2 or 5.
    pub(super) fn log(values: impl Iterator<Item = f64>, unit: Unit) -> Self {
        let (mut low, mut high, mut least) = (f64::MAX, 0.0_f64, f64::MAX);
        for value in values.filter(|value| value.is_finite()) {
            let value = value.min(VALUE_MAX);
            least = least.min(value);
            if value > 1e-300 {
                (low, high) = (low.min(value), high.max(value));
            }
        }
        if high <= 0.0 {
            (low, high) = (unit.one(), unit.one() * 10.0);
        }
        let (low, high) = (rung(low.max(high / 10_f64.powi(DECADES_MAX)), false), rung(high, true));
        let high = if high / low < 1.5 { rung(low * 1.01, true) } else { high };
        Self { low, high, log: true, step: 0.0, unit, has_less: false }.with_least(least)
    }

    /// The same scale, with a lowest label that says whether a value below the axis is drawn at its
    /// end.
    pub(super) fn with_least(self, least: f64) -> Self {
        let has_less = self.has_less || least < self.low * 0.999_999;
        Self { has_less, ..self }
    }

    /// Logarithmic for times that differ by more than a factor of 50, else linear.
    pub(super) fn fitting(values: impl Iterator<Item = f64> + Clone, unit: Unit, ticks: usize) -> Self {
        let (low, high) = values
            .clone()
            .filter(|value| value.is_finite() && *value > 0.0)
            .fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        if unit == Unit::Time && high > 0.0 && high / low > 50.0 {
            Self::log(values, unit)
        } else {
            Self::linear(values, unit, ticks)
        }
    }

    /// Returns the place of a value, 0 at `low` and 1 at `high`. Values outside are drawn at the
    /// end.
    pub(super) fn position(&self, value: f64) -> f64 {
        let at = if self.log {
            (value.max(1e-300) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value.clamp(-VALUE_MAX, VALUE_MAX) - self.low) / (self.high - self.low)
        };
        if at.is_finite() { at.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The value at a place.
    pub(super) fn value_at(&self, at: f64) -> f64 {
        if self.log {
            self.low * (self.high / self.low).powf(at)
        } else {
            self.low + (self.high - self.low) * at
        }
    }

    /// Places (0 to 1) and texts of at most about `most` ticks, from low to high.
    pub(super) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let values = if self.log { self.log_ticks(most) } else { self.linear_ticks() };
        let top = self.high.abs().max(self.low.abs());
        values
            .into_iter()
            .map(|value| {
                let (step, top) = if self.log { (value, value) } else { (self.step, top) };
                let sign = if self.has_less && value <= self.low { "≤ " } else { "" };
                (self.position(value), format!("{sign}{}", self.unit.tick(value, step, top)))
            })
            .collect()
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let first = (self.low / self.step).round() as i64;
        let steps = ((self.high - self.low) / self.step).round().clamp(1.0, 20.0) as i64;
        (first..=first + steps).map(|number| number as f64 * self.step).collect()
    }

    /// The widest stretch without one of `ticks` or an end, in thousandths of the axis.
    fn widest(&self, ticks: &[f64]) -> f64 {
        let places = ticks.iter().map(|value| self.position(*value)).chain([1.0]);
        let mut before = 0.0;
        let widest = places.fold(0.0, |widest: f64, place| {
            let stretch = place - before;
            before = place;
            widest.max(stretch)
        });
        (widest * 1e3).round()
    }

    fn log_ticks(&self, most: usize) -> Vec<f64> {
        let first = (self.low.log10() - 1e-9).ceil() as i32;
        let last = (self.high.log10() + 1e-9).floor() as i32;
        let decades = last - first + 1;
        // Two labels on an axis of many decades say little about the values between them.
        let most = most.max(4) as i32;
        if decades >= 3 || decades * 3 > most + 2 {
            let stride = (decades + most - 1) / most;
            // Each value is between two labels: both ends have one, and ticks too close to an end
            // have none.
            let room = ENDS_APART / f64::from(most);
            let from = |begin: i32| -> Vec<f64> {
                let powers = (begin..=last).step_by(stride.max(1) as usize).map(|power| 10_f64.powi(power));
                powers.filter(|value| (room..=1.0 - room).contains(&self.position(*value))).collect()
            };
            // If steps span several decades, take the ticks that leave the shortest stretch without
            // a label; of equal ones, the first.
            let inner = (first..first + stride.max(1)).map(from);
            let inner = inner.min_by(|a, b| self.widest(a).total_cmp(&self.widest(b))).unwrap_or_default();
            return [self.low].into_iter().chain(inner).chain([self.high]).collect();
        }
        (first - 1..=last)
            .flat_map(|power| [1.0, 2.0, 5.0].map(|lead| lead * 10_f64.powi(power)))
            .filter(|value| *value >= self.low * 0.999 && *value <= self.high * 1.001)
            .collect()
    }
}

/// The least of 1, 2, 2.5, 5 and 10 times a power of ten that is not below `step`.
fn nice(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let lead = step / power;
    let lead = [1.0, 2.0, 2.5, 5.0].into_iter().find(|nice| lead <= nice * 1.000_001).unwrap_or(10.0);
    lead * power
}

/// The nearest 1, 2 or 5 times a power of ten below or above `value`.
fn rung(value: f64, up: bool) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let lead = value / power;
    let rungs = [1.0, 2.0, 5.0, 10.0];
    let lead = if up {
        rungs.into_iter().find(|rung| lead <= rung * 1.000_001)
    } else {
        rungs.into_iter().rev().find(|rung| lead >= rung * 0.999_999)
    };
    lead.unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: [Unit; 7] =
        [Unit::Time, Unit::Rate, Unit::Count, Unit::Share, Unit::Bytes, Unit::BitRate, Unit::Plain];

    fn check(scale: &Scale, values: &[f64], context: &str) {
        assert!(
            scale.low < scale.high && scale.low.is_finite() && scale.high.is_finite(),
            "{context}: {scale:?}"
        );
        let ticks = scale.ticks(5);
        assert!((2..=14).contains(&ticks.len()), "{context}: {ticks:?} of {scale:?}");
        for two in ticks.windows(2) {
            assert!(two[0].0 < two[1].0, "{context}: ticks rise: {ticks:?}");
            assert_ne!(two[0].1, two[1].1, "{context}: ticks differ: {ticks:?}");
        }
        for (at, text) in &ticks {
            assert!((0.0..=1.0).contains(at), "{context}: {ticks:?}");
            assert!(
                !text.contains("NaN") && !text.contains("inf") && text.chars().count() <= 13,
                "{context}: {text}"
            );
        }
        for value in values.iter().filter(|value| value.is_finite()) {
            assert!((0.0..=1.0).contains(&scale.position(*value)), "{context}: {value}");
            let inside = scale.log || (*value).abs() > 1e299 || (scale.low..=scale.high).contains(value);
            assert!(
                inside || scale.high - scale.low < 1e-200 || value.abs() < 1e-200,
                "{context}: {value} in {scale:?}"
            );
        }
    }

    #[test]
    fn axes_of_all_ranges_have_ticks() {
        let ranges: [&[f64]; 14] = [
            &[],
            &[0.0],
            &[0.0, 0.0],
            &[5.0],
            &[-5.0],
            &[1e-12, 3e-12],
            &[0.3, 0.7],
            &[999.0, 1_001.0],
            &[-20.0, 80.0],
            &[1.0, 1e6],
            &[1e15, 7e17],
            &[f64::MAX, -f64::MAX],
            &[f64::MIN_POSITIVE, 1e-310],
            &[f64::NAN, f64::INFINITY, 3.0],
        ];
        for values in ranges {
            for unit in UNITS {
                let values_of = || values.iter().copied();
                check(&Scale::linear(values_of(), unit, 4), values, &format!("linear {unit:?} {values:?}"));
                check(&Scale::close(values_of(), unit, 4), values, &format!("close {unit:?} {values:?}"));
                check(&Scale::log(values_of(), unit), values, &format!("log {unit:?} {values:?}"));
                check(&Scale::fitting(values_of(), unit, 4), values, &format!("fitting {unit:?} {values:?}"));
            }
        }
    }

    #[test]
    fn ticks_are_round() {
        let texts = |scale: &Scale| scale.ticks(5).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        let linear = Scale::linear([0.0, 9.3e6].into_iter(), Unit::Time, 4);
        assert_eq!(texts(&linear), ["0", "2.5 ms", "5 ms", "7.5 ms", "10 ms"]);
        let log = Scale::log([1.3e6, 412e6].into_iter(), Unit::Time);
        assert_eq!(texts(&log), ["1 ms", "10 ms", "100 ms", "500 ms"]);
        let zeros = Scale::log([0.0, 13.9e3, 412e6].into_iter(), Unit::Time);
        assert_eq!(texts(&zeros), ["≤ 10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "500 ms"]);
        let low = Scale::log([13.9e3, 75e6].into_iter(), Unit::Time).ticks(2);
        assert_eq!(low.iter().map(|tick| tick.1.as_str()).collect::<Vec<_>>(), ["10 µs", "1 ms", "100 ms"]);
        // With the height of a heat map, each power of ten is labelled.
        let high = Scale::log([13e3, 2e9].into_iter(), Unit::Time).ticks(9);
        let high: Vec<_> = high.iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(high, ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "2 s"]);
        // Both 1 µs and 10 ms are too close to an end, so the decades between them are labelled.
        let many = Scale::log([513.0, 18e6].into_iter(), Unit::Time).ticks(2);
        let many: Vec<_> = many.iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(many, ["500 ns", "10 µs", "1 ms", "20 ms"]);
        let short = Scale::log([1.3e6, 7e6].into_iter(), Unit::Time);
        assert_eq!(texts(&short), ["1 ms", "2 ms", "5 ms", "10 ms"]);
        let close = Scale::close([490.0, 515.1].into_iter(), Unit::Rate, 4);
        assert_eq!(texts(&close), ["490/s", "500/s", "510/s", "520/s"]);
        let count = Scale::linear([1.0, 2.0].into_iter(), Unit::Count, 4);
        assert_eq!(texts(&count), ["0", "1", "2"]);
    }
}
