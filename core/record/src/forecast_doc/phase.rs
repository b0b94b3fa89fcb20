//! [`PhaseForecastDoc`] and [`ScenarioForecastDoc`]: forecasts of phases and sessions.

use serde::Serialize;

use super::AmountDoc;
use crate::Number;

/// What one phase sends.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PhaseForecastDoc {
    /// Its name.
    pub name: String,
    /// Whether it is a warm-up, which is counted separately and not judged.
    pub warmup: bool,
    /// `rate`, `users`, `hold`, `trace` or `pause`.
    pub kind: String,
    /// A description of the load.
    pub load: String,
    /// When it begins, on the run's clock.
    pub start_s: Number,
    /// When the last arrival is due; `null` if responses determine it.
    pub end_s: Option<Number>,
    /// Sessions that start.
    pub sessions: AmountDoc,
    /// `even` and such are known exactly, `poisson` is drawn; empty where there are no arrivals.
    pub arrivals: String,
    /// The limit on their number.
    pub cap: Option<CapDoc>,
    /// Requests.
    pub requests: AmountDoc,
    /// Requests per second at most; `null` if only responses limit them.
    pub requests_per_s_max: Option<Number>,
    /// Sessions a second at the highest; `null` where users pace themselves.
    pub sessions_per_s_max: Option<Number>,
    /// Users or held connections at the highest; 0 in the open loop.
    pub level_max: u64,
    /// Users or held connections that start.
    pub starts: u64,
    /// Connections opened.
    pub connections: AmountDoc,
    /// Connections opened per second at the highest; `null` if not known beforehand.
    pub connections_per_s_max: Option<Number>,
    /// Connections opened ahead of the phase.
    pub opened_ahead: u64,
    /// How long that takes.
    pub opened_ahead_s: Number,
    /// Requests offered and unresolved at most.
    pub max_open: u64,
    /// Explanation of how that was fixed.
    pub max_open_why: String,
    /// Scenario and weight.
    pub mix: Vec<(String, u64)>,
}

/// A limit on the number of sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CapDoc {
    /// The limit.
    pub sessions: u64,
    /// `no`, `perhaps` or `yes`.
    pub reached: String,
}

/// What a session of one scenario does.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScenarioForecastDoc {
    /// Its name; empty for the only one.
    pub name: String,
    /// Sessions of the judged phases.
    pub sessions: AmountDoc,
    /// Requests of one session.
    pub requests_each: AmountDoc,
    /// Requests that each user sends once, before and after its sessions.
    pub requests_around: AmountDoc,
    /// Pauses of one session, in microseconds.
    pub think_us: AmountDoc,
    /// From the start of a session to that of the user's next at least, in microseconds.
    pub pace_us: Option<Number>,
    /// Who owns connections: `user`, `session`, `request` or `shared`.
    pub connection: String,
    /// Each step.
    pub steps: Vec<StepForecastDoc>,
}

/// What one step sends.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StepForecastDoc {
    /// Its name.
    pub name: String,
    /// Requests of the judged phases.
    pub requests: AmountDoc,
    /// Bytes of one request as it is sent; `null` where they differ from one to the next.
    pub request_bytes: Option<u64>,
}
