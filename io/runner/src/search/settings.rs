//! Inputs of a search: [`SearchSettings`], and the load that it varies ([`SearchedLoad`]).

use std::path::PathBuf;
use std::sync::Arc;

use wavetank_driver::TlsClient;
use wavetank_journey::data::Table;
use wavetank_plan::{Guard, Plan, Unsupported};
use wavetank_record::LoadDoc;
use wavetank_search::{SearchTiming, SearchVariable, Setup};
use wavetank_units::{Nanos, UserError};

use crate::FleetLoad;

/// What to search, apart from the load.
#[derive(Clone, Debug)]
pub struct SearchSettings {
    /// The quantity to vary.
    pub sought: SearchVariable,
    /// Range, precision and number of levels.
    pub setup: Setup,
    /// Durations of the parts of a search.
    pub limits: SearchTiming,
    /// The command as typed, without secrets.
    pub command: String,
    /// Where to keep the search, if anywhere.
    pub runs_dir: Option<PathBuf>,
}

/// The load that a search varies.
pub trait SearchedLoad {
    /// Returns a run at `level` for `length`. Fails with the errors of a run.
    fn plan_run(&self, level: f64, length: Nanos, seed: u64) -> Result<LevelPlan, UserError>;

    /// Connects to the fleet that sends the load of `plan`; `None` if this host sends it.
    fn connect_fleet(&self, plan: &Plan) -> Result<Option<FleetLoad>, UserError>;
}

/// A level, ready to run.
pub struct LevelPlan {
    /// The load.
    pub plan: Arc<Plan>,
    /// Its description for the record.
    pub load: LoadDoc,
    /// Our side of TLS, if the plan speaks it.
    pub tls: Option<Arc<TlsClient>>,
    /// Why the best driver is not used, unless the user chose the driver.
    pub engine_why: Option<Unsupported>,
    /// Decides over every address of the run.
    pub guard: Guard,
    /// Rows for each source of data in the plan.
    pub tables: Vec<Table>,
    /// Whether the target is asked for its own count of connections; `None`: if it is on this host.
    pub truth: Option<bool>,
    /// Plan of the probe request.
    pub probe: Option<Arc<Plan>>,
    /// Remarks, printed once.
    pub remarks: Vec<String>,
}
