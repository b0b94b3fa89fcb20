//! [`judge`]: what was measured and how it ended becomes the record.

use wavetank_diagnose::{Circumstances, Ending, diagnose};
use wavetank_measure::Ledger;
use wavetank_plan::{Nanos, Plan};
use wavetank_record::{
    ConnectionMemory, EnvironmentDoc, EventLine, NAMES_FAILED, NAMES_MOVED, RunRecord, SampleLine, Setup,
};
use wavetank_report::{Composition, compose};

/// All there is to tell about a run, live or read back from its archive.
pub(crate) struct Told<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) plan_hash: &'a str,
    pub(crate) environment: &'a EnvironmentDoc,
    pub(crate) ledger: Ledger,
    pub(crate) ending: &'a Ending,
    pub(crate) circumstances: &'a Circumstances,
    pub(crate) cpu_s: (f64, f64),
    pub(crate) peak_rss_bytes: u64,
    pub(crate) connection_memory: Option<ConnectionMemory>,
    /// Requests of the probe; those around the load are in the circumstances.
    pub(crate) setup: Setup,
    pub(crate) events: &'a [EventLine],
    pub(crate) samples: &'a [SampleLine],
}

/// Conclude.
pub(crate) fn judge(told: Told<'_>) -> RunRecord {
    let Told { plan, ledger, ending, circumstances, .. } = told;
    let diagnosis = diagnose(plan, &ledger, ending, circumstances);
    let mut record = compose(&Composition {
        plan,
        plan_hash: told.plan_hash,
        environment: told.environment,
        totals: ledger.totals(),
        observed: ledger.observed(),
        thresholds: &ledger.results(),
        diagnosis: &diagnosis,
        cpu_s: told.cpu_s,
        peak_rss_bytes: told.peak_rss_bytes,
        connection_memory: told.connection_memory,
        setup: told.setup,
        before: &circumstances.before,
        after: &circumstances.after,
        events: told.events,
        impacts: &ledger.impacts(),
        samples: told.samples,
    });
    // Ahead of all else: its numbers must never be taken for those of the real run.
    record.notes.splice(0..0, told.environment.rehearsal.clone());
    record.notes.extend(moves(told.events));
    record
}

/// The first changes of addresses: what the numbers are of is another machine from then on.
fn moves(events: &[EventLine]) -> Vec<String> {
    let all = || events.iter().filter(|event| event.kind == NAMES_MOVED || event.kind == NAMES_FAILED);
    let told = |event: &EventLine| format!("{} (at {})", event.text, Nanos(event.at_ns));
    let mut notes: Vec<String> = all().take(MOVES_TOLD).map(told).collect();
    let more = all().count() - notes.len();
    if more > 0 {
        notes.push(format!("{more} more changes of addresses stand in the archive's events.jsonl"));
    }
    notes
}

/// Changes of addresses told with the result.
const MOVES_TOLD: usize = 10;
