//! [`Forecast`]: everything that a plan says in advance about its load.

use wavetank_plan::{Phase, Plan};
use wavetank_units::Nanos;

use super::{BoundedEstimate, PhaseForecast, SessionForecast, Timeline};

/// The forecast of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// The sessions of each scenario, by index.
    pub scenarios: Vec<SessionForecast>,
    /// The load of each phase, by index.
    pub phases: Vec<PhaseForecast>,
    /// Sessions of the phases that are judged.
    pub sessions: BoundedEstimate,
    /// Requests of the phases that are judged.
    pub requests: BoundedEstimate,
    /// When the last phase ends; `None` where that depends on answers.
    pub load_end: Option<Nanos>,
    /// When everything is over at the latest: `load_end` and the drain.
    pub end: Option<Nanos>,
    /// The load over time, as long as that is known.
    pub timeline: Timeline,
}

impl Forecast {
    /// Computes the forecast of a plan in which every number is fixed.
    pub fn for_plan(plan: &Plan) -> Self {
        let scenarios: Vec<SessionForecast> =
            plan.scenarios.iter().map(|scenario| SessionForecast::for_scenario(scenario, plan)).collect();
        let phases: Vec<PhaseForecast> =
            plan.phases.iter().map(|phase| PhaseForecast::for_phase(phase, plan, &scenarios)).collect();
        let judged = || plan.phases.iter().zip(&phases).filter(|(phase, _)| !phase.warmup);
        let sum = |of: fn(&PhaseForecast) -> BoundedEstimate| {
            judged().fold(BoundedEstimate::ZERO, |sum, (_, phase)| sum.plus(of(phase)))
        };
        let (sessions, requests) = (sum(|phase| phase.sessions), sum(|phase| phase.requests));
        let load_end =
            phases.iter().map(|phase| phase.ends).reduce(|one, other| Some(one?.max(other?))).flatten();
        // If the end of a phase is open, the chart ends with the last known end.
        let known = phases.iter().filter_map(|phase| phase.ends).max().unwrap_or(Nanos::ZERO);
        let timeline = Timeline::for_plan(plan, &scenarios, known);
        Self {
            end: load_end.map(|end| end.after(plan.drain)),
            scenarios,
            phases,
            sessions,
            requests,
            load_end,
            timeline,
        }
    }

    /// Returns the judged phases with their forecasts.
    pub fn judged<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = (&'a Phase, &'a PhaseForecast)> {
        plan.phases.iter().zip(&self.phases).filter(|(phase, _)| !phase.warmup)
    }
}
