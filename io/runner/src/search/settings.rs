//! Inputs of a search: [`SearchSettings`], and the load that it varies ([`SearchedLoad`]).

use std::path::PathBuf;

use wavetank_plan::Plan;
use wavetank_search::{SearchTiming, SearchVariable, Setup};
use wavetank_units::{Nanos, UserError};

use crate::{FleetLoad, PreparedRun};

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
    fn plan_run(&self, level: f64, length: Nanos, seed: u64) -> Result<PreparedRun, UserError>;

    /// Connects to the fleet that sends the load of `plan`; `None` if this host sends it.
    fn connect_fleet(&self, plan: &Plan) -> Result<Option<FleetLoad>, UserError>;
}
