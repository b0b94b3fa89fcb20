//! Numbers of a comparison as people read them.

use wavetank_record::{CompareDoc, MetricDoc, Number};
use wavetank_units::quantity::{share_literal, show_link, show_rate, show_share, show_size};

use super::strings::{CompareStrings, EN};
use crate::format;

/// Shares below this would read as `0.00 %`.
const TINY: f64 = 0.00005;

/// Most rows of values where not all are shown. The others are in JSON.
const ROWS_MAX: usize = 60;

/// Returns the values to show if there is no room for all, in their order, and the number left out.
/// Values with a shown difference or regression take precedence over the others.
pub(super) fn selected_metrics(doc: &CompareDoc) -> (Vec<&MetricDoc>, usize) {
    let is_shown =
        |metric: &MetricDoc| metric.verdict == "difference" || metric.regression.as_deref() == Some("shown");
    let shown = doc.metrics.iter().filter(|metric| is_shown(metric)).count();
    let mut room = [shown.min(ROWS_MAX), ROWS_MAX.saturating_sub(shown)];
    let has_room = |metric: &&MetricDoc| {
        let left = &mut room[usize::from(!is_shown(metric))];
        let fits = *left > 0;
        *left = left.saturating_sub(1);
        fits
    };
    let reported: Vec<_> = doc.metrics.iter().filter(has_room).collect();
    let left_out = doc.metrics.len() - reported.len();
    (reported, left_out)
}

/// A side's value in its unit, with `~` before it if fewer than ten samples are above it.
pub(super) fn value(metric: &MetricDoc, value: Option<Number>) -> String {
    let Some(value) = value else { return "–".to_owned() };
    match metric.unit.as_str() {
        "us" if metric.is_uncertain() => format!("~{}", format::time(value)),
        "us" => format::time(value),
        "per_s" => show_rate(value.0),
        "bits_per_s" => show_link(value.0),
        "share" => show_share(value.0),
        "bytes" => show_size(value.0.max(0.0).round() as u64),
        "s" => format::time(Number(value.0 * 1e6)),
        _ => format!("{:.3}", value.0),
    }
}

/// A ratio to three decimals: `1.050`; large ones to fewer: `12.4`.
pub(super) fn ratio(ratio: Number) -> String {
    match ratio.0 {
        r if r < 9.9995 => format!("{r:.3}"),
        r if r < 99.95 => format!("{r:.1}"),
        r if r < 1e6 => format!("{r:.0}"),
        _ => "> 1 M".to_owned(),
    }
}

/// The ratio's interval: `1.044 to 1.056`; empty without one.
pub(super) fn interval(metric: &MetricDoc) -> String {
    interval_in(metric, &EN)
}

/// The same in another language.
pub(super) fn interval_in(metric: &MetricDoc, words: &CompareStrings) -> String {
    match (metric.low, metric.high) {
        (Some(low), Some(high)) => (words.between)(&ratio(low), &ratio(high)),
        _ => String::new(),
    }
}

/// A difference as a share of A: `5.0 %`, `0.42 %`, `120 %`, `12 times`; no sign.
pub(super) fn percent(share: f64, words: &CompareStrings) -> String {
    match share.abs() * 100.0 {
        p if p < 0.995 => format!("{p:.2} %"),
        p if p < 9.95 => format!("{p:.1} %"),
        p if p < 999.5 => format!("{p:.0} %"),
        p => (words.times)(&format!("{:.0}", p / 100.0)),
    }
}

/// The allowed regression, with the digits that the user gave.
pub(super) fn format_limit(limit: f64) -> String {
    share_literal(limit).replace('%', " %")
}

/// A difference as a share of A; a difference never reads as zero.
fn some(share: f64, words: &CompareStrings) -> String {
    if share < TINY { words.tiny.to_owned() } else { percent(share, words) }
}

/// Describes the change of a value from A to B: `5.0 % more`, `3.2 % less`, `the same`, `appeared`
/// or `vanished`.
pub(super) fn change(metric: &MetricDoc) -> String {
    change_in(metric, &EN)
}

/// The same in another language.
pub(super) fn change_in(metric: &MetricDoc, words: &CompareStrings) -> String {
    let zero = |side: Option<Number>| side.is_some_and(|value| value.0 == 0.0);
    match metric.ratio {
        Some(ratio) if ratio.0 > 1.0 => (words.more)(&some(ratio.0 - 1.0, words)),
        Some(ratio) if ratio.0 < 1.0 => (words.less)(&some(1.0 - ratio.0, words)),
        Some(ratio) if !ratio.0.is_nan() => words.same.to_owned(),
        None if zero(metric.a) && !zero(metric.b) => (words.none_before)(&value(metric, metric.b)),
        None if zero(metric.b) && !zero(metric.a) => (words.none_now)(&value(metric, metric.a)),
        _ => words.not_known.to_owned(),
    }
}

/// The change's interval in the sense of [`change`]: ` (4.4 to 5.6 %)`; empty without one.
pub(super) fn change_interval(metric: &MetricDoc) -> String {
    change_interval_in(metric, &EN)
}

/// The same in another language.
pub(super) fn change_interval_in(metric: &MetricDoc, words: &CompareStrings) -> String {
    let (Some(ratio), Some(low), Some(high)) = (metric.ratio, metric.low, metric.high) else {
        return String::new();
    };
    let (from, to) = if ratio.0 >= 1.0 { (low.0 - 1.0, high.0 - 1.0) } else { (1.0 - high.0, 1.0 - low.0) };
    (words.interval)(&signed(from, words), &signed(to, words))
}

/// A difference with its sign if it is negative. A difference never reads as zero or as minus zero.
fn signed(share: f64, words: &CompareStrings) -> String {
    match share {
        share if share <= -TINY => format!("−{}", percent(share, words)),
        share if share < 0.0 => words.tiny_less.to_owned(),
        share if share > 0.0 => some(share, words),
        _ => percent(0.0, words),
    }
}

/// The judgement of one value.
pub(super) fn judgement(metric: &MetricDoc) -> String {
    judgement_in(metric, &EN)
}

/// The same in another language. The reason why a value is not judged stays as it is stored.
pub(super) fn judgement_in(metric: &MetricDoc, words: &CompareStrings) -> String {
    let said = match metric.verdict.as_str() {
        "difference" => change_in(metric, words),
        "no_difference" => {
            // The smallest difference that would have been shown. If it is above a factor of two,
            // say that little would have been shown.
            let seen = metric.smallest_seen.map_or(String::new(), |seen| match seen.0 {
                share if share <= 1.0 => (words.would_be)(&percent(share, words)),
                _ => words.show_little.to_owned(),
            });
            format!("{}{seen}", words.not_shown)
        }
        "undecided" if metric.ratio.is_none() => format!("{}{}", words.undecided, words.for_no_ratio),
        "undecided" => words.undecided.to_owned(),
        _ => metric.why.as_str().to_owned(),
    };
    match metric.regression.as_deref() {
        Some("shown") => (words.regression)(&said),
        Some("possible") => (words.possible)(&said),
        _ => said,
    }
}
