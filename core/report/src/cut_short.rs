//! [`cut_short_text`]: how a load ended before its plan did.

use wavetank_diagnose::Diagnosis;
use wavetank_measure::PhaseWindows;
use wavetank_plan::Plan;
use wavetank_record::{CutShortDoc, Number, RunRecord};
use wavetank_units::Nanos;

use crate::format;
use crate::threshold_state::{is_running, was_killed};

/// A load that ran for this share of its plan counts as complete.
const WHOLE: f64 = 0.99;

/// Returns how the load of `length` ended before `plan` did. `None` if it ran to its end, or never
/// started.
pub(crate) fn cut_short(plan: &Plan, diagnosis: &Diagnosis, length: Nanos) -> Option<CutShortDoc> {
    let why = diagnosis.cut_short.clone()?;
    // Neither length includes time that is not judged.
    let planned = plan.load_end().map(|end| PhaseWindows::new(plan).window_length(end).as_secs_f64());
    let is_whole = planned.is_some_and(|planned| length.as_secs_f64() >= planned * WHOLE);
    (!is_whole).then(|| CutShortDoc { planned_s: planned.map(Number), why })
}

/// `stopped after 6.00 s of 15 s: interrupted by a signal`. `None` if the load was not cut short.
pub(crate) fn cut_short_text(record: &RunRecord) -> Option<String> {
    let CutShortDoc { planned_s, why } = record.cut_short.as_ref()?;
    let ran = format::seconds(record.duration_s);
    let of = planned_s.map(|planned| format!(" of {}", format::seconds(planned))).unwrap_or_default();
    Some(match (was_killed(record), is_running(record)) {
        (_, true) => format!("{ran}{of} so far"),
        (true, _) => format!("{ran}{of} are in this record: {why}"),
        _ => format!("stopped after {ran}{of}: {why}"),
    })
}
