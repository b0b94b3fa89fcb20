//! Formats numbers for sentences.

use wavetank_measure::{Fraction, ThresholdResult};
use wavetank_plan::Value;
/// `12,400`.
pub(crate) use wavetank_units::quantity::format_grouped as count;
use wavetank_units::quantity::trimmed;
use wavetank_units::{Nanos, Sentence, phrase, sentence};

/// Formats a share as `3.2 %`, with enough decimals to distinguish it from zero, and without
/// trailing zeros. Cards and tables have less room: they show `< 0.01 %` where this returns `0.0012
/// %`.
pub(crate) fn percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    let decimals = match value.abs() {
        x if x >= 99.95 || x == 0.0 => 0,
        x if x >= 9.95 => 1,
        x if x >= 0.095 => 2,
        x if x >= 0.0095 => 3,
        _ => 4,
    };
    format!("{} %", trimmed(&format!("{value:.decimals$}")))
}

/// `310 of 9,800 (3.16 %)`.
pub(crate) fn share(share: Fraction) -> Sentence {
    sentence!("{} of {} ({})", count(share.count), count(share.of), percent(share.fraction()))
}

/// `one request`, `12,400 requests`.
pub(crate) fn requests(n: u64) -> Sentence {
    if n == 1 { phrase!("one request") } else { sentence!("{} requests", count(n)) }
}

/// A threshold's measured value in its own unit, or why there is none.
pub(crate) fn value(result: &ThresholdResult) -> Sentence {
    let Some(value) = result.value else {
        return result.why.clone().unwrap_or_else(|| phrase!("no value"));
    };
    let value = match result.condition.value {
        Value::Time(_) => Nanos(value as i64).to_string(),
        Value::Count(_) => count(value as u64),
        Value::PerSecond(_) if value < 100.0 => format!("{value:.1}/s"),
        Value::PerSecond(_) => format!("{}/s", count(value.round() as u64)),
        Value::Share(_) => percent(value),
        Value::Bytes(_) => wavetank_units::quantity::show_size(value as u64),
        Value::BitsPerSecond(_) => format!("{:.2} Gbit/s", value / 1e9),
    };
    sentence!("{value}")
}

/// `` `p99 < 250ms` broke: 312 ms ``, with the time of the worst value.
pub(crate) fn broken_threshold_text(result: &ThresholdResult) -> Sentence {
    let (condition, value) = (&result.expr, value(result));
    match result.at {
        Some(at) => sentence!("`{condition}` broke: {value} at {:.0} s", at.as_secs_f64()),
        None => sentence!("`{condition}` broke: {value}"),
    }
}

/// Returns `` stop condition `failed > 50% for 10s` fired: 62 % ``. The end of the run contains the
/// time.
pub(crate) fn stop_condition_text(result: &ThresholdResult) -> Sentence {
    sentence!("stop condition `{}` fired: {}", result.expr, value(result))
}
