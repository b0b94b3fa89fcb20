//! [`ForecastDoc`]: the `wavetank.plan/1` object, what `wavetank plan --format json` prints.

mod amount;
mod holding;
mod lack;
mod phase;
mod standing;
mod timeline;

use std::collections::BTreeMap;

use serde::Serialize;
use wavetank_capacity::forecast::ResourceNeed;
use wavetank_capacity::size::Setting;

pub use amount::AmountDoc;
pub use holding::{HoldingDoc, HoldingMemoryDoc};
pub use lack::LackDoc;
pub use phase::{CapDoc, PhaseForecastDoc, ScenarioForecastDoc, StepForecastDoc};
pub use standing::{CalibrationMarginDoc, PerSecondDoc};
pub use timeline::TimelineDoc;

use crate::Number;

/// Version of the format; fields are only ever added to it.
pub const FORECAST_SCHEMA: &str = "wavetank.plan/1";

/// The forecast for a plan, made before anything is sent (`docs/measuring.md` §5 and §6). The text
/// of `wavetank plan` is a function of it alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ForecastDoc {
    /// Always [`FORECAST_SCHEMA`].
    pub schema: String,
    /// Name of the run.
    pub name: String,
    /// The file as named.
    pub file: String,
    /// Version of wavetank.
    pub version: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// Where requests go: URLs, without secrets.
    pub targets: Vec<String>,
    /// The result in sentences.
    pub summary: Vec<String>,
    /// Its start and end, in seconds on the run's clock.
    pub span: SpanDoc,
    /// Sessions of the judged phases.
    pub sessions: AmountDoc,
    /// Requests of the judged phases.
    pub requests: AmountDoc,
    /// What a session of each scenario does.
    pub scenarios: Vec<ScenarioForecastDoc>,
    /// What each phase sends.
    pub phases: Vec<PhaseForecastDoc>,
    /// The load over time.
    pub timeline: TimelineDoc,
    /// Resources that it needs of this host, and those available.
    pub needs: Vec<ResourceNeed>,
    /// Resources needed by the phases that hold connections; left out if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holding: Option<HoldingDoc>,
    /// What this host lacks: with one of them `run` refuses the plan.
    pub lacking: Vec<LackDoc>,
    /// Thresholds and stop conditions, and what already speaks against them.
    pub conditions: Vec<OutlookDoc>,
    /// The effective settings.
    pub settings: Vec<Setting>,
    /// Every documented constant.
    pub constants: BTreeMap<String, String>,
    /// Additional information.
    pub notes: Vec<String>,
    /// Addition: the plan compared with this host's calibration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationMarginDoc>,
}

/// Start and end of a plan, in seconds on the run's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SpanDoc {
    /// Begin of the first phase; negative with a warm-up.
    pub from_s: Number,
    /// End of the last phase; `null` if responses determine it.
    pub load_end_s: Option<Number>,
    /// Latest end of everything; `null` if responses determine it.
    pub end_s: Option<Number>,
    /// Hard bound on everything after the last phase.
    pub drain_s: Number,
}

/// A condition and its forecast.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OutlookDoc {
    /// The condition.
    pub expr: String,
    /// `threshold`, `stop`, or `implicit`: a threshold that no user wrote.
    pub kind: String,
    /// `open`: there is no reason for another outlook. `unreachable`: it will fail (a `stop` will
    /// never fire). `undecided`. `doubtful`: it may stay undecided.
    pub outlook: String,
    /// Why; empty with `open`.
    pub why: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

impl ForecastDoc {
    /// The object as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data with string keys always encodes")
    }
}
