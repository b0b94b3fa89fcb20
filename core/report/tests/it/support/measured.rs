//! Records and pages of what was measured.

use wavetank_diagnose::{Around, Circumstances, Ending, diagnose};
use wavetank_measure::Ledger;
use wavetank_plan::Plan;
use wavetank_record::{EnvironmentDoc, EventLine, RunRecord, Setup};
use wavetank_report::{Composition, HtmlSource, compose};

/// The record of a finished run that came to `book`.
pub(crate) fn record_of(
    plan: &Plan,
    book: &Ledger,
    environment: &EnvironmentDoc,
    events: &[EventLine],
) -> RunRecord {
    let diagnosis = diagnose(plan, book, &Ending::Finished, &Circumstances::default());
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
        before: &Around::default(),
        after: &Around::default(),
        samples: &[],
        events,
        impacts: &book.impacts(),
    })
}

/// A page of which nothing is known but the record.
pub(crate) const fn bare(record: &RunRecord) -> HtmlSource<'_> {
    HtmlSource { record, plan: None, environment: None, course: None, hosts: &[], others: &[], target: &[] }
}
