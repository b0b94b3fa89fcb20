//! What is said of connections that were held.

use wavetank_plan::Nanos;

use crate::facts::Case;
use crate::words;

/// The first line of a run that held connections and passed: `1,000,000 connections held for 20 m 00 s, 0 lost`.
pub(crate) fn headline(case: &Case<'_>) -> Option<String> {
    let totals = case.facts.totals;
    let (phase, longest) = totals.held.plateaus().max_by_key(|(_, plateau)| plateau.seconds)?;
    let (lowest, planned) = (longest.lowest.held, longest.lowest.planned);
    let of = if lowest < planned { format!(" of {}", words::count(planned)) } else { String::new() };
    let length = totals.spans().phase_length(phase.phase, totals.sealed);
    let whole = Nanos(length.0 - length.0 % Nanos::SECOND.0);
    let length = if whole > Nanos::ZERO { whole } else { length };
    Some(format!(
        "{}{of} connections held for {}, {} lost",
        words::count(lowest),
        shown(length),
        words::count(totals.conns.lost)
    ))
}

/// Whole seconds without a fraction.
fn shown(length: Nanos) -> String {
    let seconds = length.0 / Nanos::SECOND.0;
    if seconds > 0 && seconds < 120 { format!("{seconds} s") } else { length.to_string() }
}
