//! [`LoadResult`]: what a run was made into.

use wavetank_diagnose::RunEnd;
use wavetank_measure::{ErrorClass, Ledger};
use wavetank_plan::Plan;
use wavetank_record::{ConnectionMemory, EventLine, SampleLine, Setup};
use wavetank_store::ArchiveWriter;
use wavetank_units::{Nanos, Sentence};

use super::fleet_result::FleetResult;

/// What a run was made into.
pub(crate) struct LoadResult {
    pub(crate) ledger: Ledger,
    pub(crate) ending: RunEnd,
    pub(crate) events: Vec<EventLine>,
    /// Examples of requests.
    pub(crate) samples: Vec<SampleLine>,
    pub(crate) archive: Option<ArchiveWriter>,
    /// Zero of the run's clock on the process's; `None`: the load was never begun.
    pub(crate) started: Option<Nanos>,
    /// Descriptions of missing data.
    pub(crate) lost: Vec<Sentence>,
    /// Descriptions of counts that load threads found inconsistent.
    pub(crate) accounting: Vec<Sentence>,
    /// Detail of the first TLS failure of each class.
    pub(crate) faults: Vec<(ErrorClass, Sentence)>,
    pub(crate) memory: Option<ConnectionMemory>,
    /// Requests outside every counter: those sent to poll a target that does not report its count.
    pub(crate) setup: Setup,
    /// The agents; `None` on a single host.
    pub(crate) fleet: Option<FleetResult>,
}

impl LoadResult {
    /// No load was sent.
    pub(crate) fn nothing(plan: &Plan, ending: RunEnd, archive: Option<ArchiveWriter>) -> Self {
        let (events, samples, lost, accounting) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let ledger = Ledger::new(plan);
        let (started, faults, memory, setup) = (None, Vec::new(), None, Setup::default());
        let fleet = None;
        Self {
            ledger,
            ending,
            events,
            samples,
            archive,
            started,
            lost,
            accounting,
            faults,
            memory,
            setup,
            fleet,
        }
    }
}
