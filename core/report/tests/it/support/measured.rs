//! Records and pages of measured runs.

use wavetank_diagnose::{HookResult, RunContext, RunEnd, diagnose};
use wavetank_measure::Ledger;
use wavetank_plan::Plan;
use wavetank_record::{EnvironmentDoc, EventLine, RunRecord, Setup};
use wavetank_report::{Composition, HtmlSource, compose};

/// Composes the record of a finished run from the measurements in `book`.
pub(crate) fn record_of(
    plan: &Plan,
    book: &Ledger,
    environment: &EnvironmentDoc,
    events: &[EventLine],
) -> RunRecord {
    let diagnosis = diagnose(plan, book, &RunEnd::Finished, &RunContext::default());
    compose(&Composition {
        plan,
        plan_hash: "ab12",
        environment,
        totals: book.totals(),
        observed: book.observed(),
        thresholds: &book.results(),
        diagnosis: &diagnosis,
        cpu_s: (0.0, 0.0),
        peak_rss_bytes: 0,
        connection_memory: None,
        setup: Setup::default(),
        before: &HookResult::default(),
        after: &HookResult::default(),
        samples: &[],
        events,
        impacts: &book.impacts(),
    })
}

/// A page with the record as its only input.
pub(crate) const fn bare(record: &RunRecord) -> HtmlSource<'_> {
    HtmlSource::of_record(record)
}
