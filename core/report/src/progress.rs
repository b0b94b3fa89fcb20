//! The progress line: one sealed interval, or several merged, in one line.

use wavetank_measure::{Histogram, Interval, RequestCounters};
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_rate, show_request_rate};

/// Formats `interval` as one line without a newline: progress of the run, rates, the response time
/// of this interval, and failures. Instants before 0 are the warm-up.
///
/// In a run with hold phases, `held` is the target number of connections at the end of the interval
/// and the number lost since the start. Held connections then come first, and requests are shown
/// only if there are any.
pub fn progress(interval: &Interval, held: Option<(u64, u64)>) -> String {
    let (mut counters, mut response, mut open) = (RequestCounters::default(), Histogram::default(), 0);
    for step in &interval.steps {
        counters.merge(&step.counters);
        response.merge(&step.response);
        open += step.open;
    }
    let length = interval.len.as_secs_f64();
    let per_s = |count: u64| if length > 0.0 { count as f64 / length } else { 0.0 };
    let at = interval.from.after(interval.len);
    let mut parts = vec![if interval.from < Nanos::ZERO {
        format!("{:>4} warm-up", whole(at))
    } else {
        format!("{:>4}", whole(at))
    }];
    if let Some((planned, lost)) = held {
        let conns = &interval.conns;
        parts.push(format!("held {} of {}", format_grouped(conns.open), format_grouped(planned)));
        parts.push(format!("opened {:>8}", show_rate(per_s(conns.opened))));
        parts.push(format!("lost {}", format_grouped(lost)));
        let refused = (conns.failed > 0).then(|| format!("not opened {}", format_grouped(conns.failed)));
        parts.extend(refused);
    }
    // If connections are only held, seconds without a request are not worth a line.
    if held.is_none() || counters.offered > 0 || !response.is_empty() || open > 0 {
        parts.push(format!("offered {:>11}", show_request_rate(per_s(counters.offered))));
        parts.push(format!("done {:>11}", show_request_rate(per_s(counters.done))));
        let percentile =
            |q| response.percentile(q).map_or_else(|| "-".to_owned(), |ns| Nanos(ns as i64).to_string());
        parts.push(format!("p50 {:>7} p99 {:>7}", percentile(50.0), percentile(99.0)));
    }
    let open = ("open", open);
    let troubles =
        [("failed", counters.failed()), ("late", counters.late), ("dropped", counters.dropped()), open];
    let occurred =
        troubles.iter().filter(|(_, n)| *n > 0).map(|&(name, n)| format!("{name} {}", format_grouped(n)));
    let occurred = occurred.collect::<Vec<_>>().join(" ");
    parts.extend((!occurred.is_empty()).then_some(occurred));
    parts.join("  ")
}

/// Whole seconds: intervals are sealed a second apart.
fn whole(at: Nanos) -> String {
    if at < Nanos::from_secs(120) { format!("{:.0} s", at.as_secs_f64()) } else { at.to_string() }
}
