//! [`PhaseYaml`]: a phase in `plan.yaml`.

use serde::{Deserialize, Serialize};
use wavetank_plan::{Arrivals, Load, MaxOpenLimit, Phase, PopulationCurve, RateCurve, ScenarioMix};
use wavetank_units::Nanos;

use super::exact_quantity::{exact_duration, exact_rate, read_duration, read_rate};
use super::names::{name_of, one_of};
use super::shape::{CurveYaml, is_flat, levels_text, read_levels, read_times, times_text};
use crate::DecodeError;

const ARRIVALS: [(&str, Arrivals); 2] = [("even", Arrivals::Even), ("poisson", Arrivals::Poisson)];
const MAX_OPEN_BY: [(&str, MaxOpenLimit); 4] = [
    ("plan", MaxOpenLimit::Plan),
    ("files", MaxOpenLimit::Files),
    ("memory", MaxOpenLimit::Memory),
    ("sources", MaxOpenLimit::Sources),
];

/// Limit of a phase's start and of its length in nanoseconds, 36 years: both add up, and so do the
/// times that are open before and after it.
const TIME_MAX: u64 = 1 << 60;
/// Limit of users or connections, the same as for all counts ([`crate::OverflowGuard`]).
const COUNT_MAX: u64 = crate::OverflowGuard::EVENTS_MAX;

/// One load among the keys from `rate` to `pause`; what does not apply is not written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PhaseYaml {
    name: String,
    warmup: bool,
    start: String,
    #[serde(rename = "for")]
    length: Option<String>,
    requests_max: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sessions_max: Option<u64>,
    #[serde(flatten)]
    load: LoadYaml,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scenario: Option<u16>,
    /// Scenario and weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mix: Option<Vec<(u16, u64)>>,
    max_open: u64,
    max_open_by: String,
    connections: u64,
    open_before: bool,
}

/// Exactly one of `rate` (constant), `curve`, `users` (a constant number), `user_levels`, `hold`,
/// `hold_levels`, `trace` and `pause`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct LoadYaml {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    curve: Option<CurveYaml>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arrivals: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    requests_each: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    users: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_levels: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sessions_each: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold_levels: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause: Option<bool>,
}

impl PhaseYaml {
    pub(crate) fn new(phase: &Phase) -> Self {
        let Phase {
            name,
            warmup,
            start,
            length,
            requests_max,
            sessions_max,
            load,
            mix,
            max_open,
            max_open_by,
            connections,
            open_before,
        } = phase;
        Self {
            name: name.clone(),
            warmup: *warmup,
            start: exact_duration(*start),
            length: length.map(exact_duration),
            requests_max: *requests_max,
            sessions_max: *sessions_max,
            load: LoadYaml::new(load),
            scenario: mix.only(),
            mix: mix.only().is_none().then(|| mix.parts().to_vec()),
            max_open: *max_open,
            max_open_by: name_of(*max_open_by, &MAX_OPEN_BY).to_owned(),
            connections: *connections,
            open_before: *open_before,
        }
    }

    pub(crate) fn read(&self) -> Result<Phase, DecodeError> {
        let length = self.length.as_deref().map(read_duration).transpose()?;
        if length.is_some_and(|length| length <= Nanos::ZERO) {
            return Err(DecodeError::new(format!("phase `{}` has no length", self.name)));
        }
        let start = read_duration(&self.start)?;
        if [start, length.unwrap_or_default()].iter().any(|time| time.0.unsigned_abs() > TIME_MAX)
            || self.load.users.max(self.load.hold).is_some_and(|count| count > COUNT_MAX)
        {
            return Err(DecodeError::new(format!("phase `{}` is beyond any run", self.name)));
        }
        let load = self.load.read(length)?;
        let load =
            load.ok_or_else(|| DecodeError::new(format!("phase `{}` has no load, or two", self.name)))?;
        let mix = match (self.scenario, &self.mix) {
            (Some(only), None) => Some(ScenarioMix::one(only)),
            (None, Some(parts)) => ScenarioMix::new(parts.clone()),
            _ => None,
        };
        Ok(Phase {
            name: self.name.clone(),
            warmup: self.warmup,
            start,
            length,
            requests_max: self.requests_max,
            sessions_max: self.sessions_max,
            load,
            mix: mix.ok_or_else(|| {
                DecodeError::new(format!("phase `{}` has no scenario, or two mixes", self.name))
            })?,
            max_open: self.max_open,
            max_open_by: one_of(&self.max_open_by, &MAX_OPEN_BY)?,
            connections: self.connections,
            open_before: self.open_before,
        })
    }
}

impl LoadYaml {
    fn new(load: &Load) -> Self {
        let flat = |levels: &PopulationCurve| is_flat(levels.pieces(), levels.length()).then(|| levels.max());
        let moving = |levels: &PopulationCurve| flat(levels).is_none().then(|| levels_text(levels));
        let empty = Self::default();
        match load {
            Load::Open { rate, arrivals, requests_each } => {
                let flat = is_flat(rate.pieces(), rate.length());
                Self {
                    rate: flat.then(|| exact_rate(rate.max())),
                    curve: (!flat).then(|| CurveYaml::new(rate)),
                    arrivals: Some(name_of(*arrivals, &ARRIVALS).to_owned()),
                    requests_each: *requests_each,
                    ..empty
                }
            }
            Load::Trace { times } => Self { trace: Some(times_text(times)), ..empty },
            Load::Closed { users, sessions_each } => {
                let (sessions_each, user_levels) = (*sessions_each, moving(users));
                Self { users: flat(users), user_levels, sessions_each, ..empty }
            }
            Load::Hold { connections, sessions_each } => {
                let (sessions_each, hold_levels) = (*sessions_each, moving(connections));
                Self { hold: flat(connections), hold_levels, sessions_each, ..empty }
            }
            Load::Pause => Self { pause: Some(true), ..empty },
        }
    }

    /// The load; `None` if there is none, or more than one.
    fn read(&self, length: Option<Nanos>) -> Result<Option<Load>, DecodeError> {
        let loads = [
            self.rate.is_some() || self.curve.is_some(),
            self.users.is_some() || self.user_levels.is_some(),
            self.hold.is_some() || self.hold_levels.is_some(),
            self.trace.is_some(),
            self.pause.is_some(),
        ];
        if loads.into_iter().filter(|&there| there).count() != 1 {
            return Ok(None);
        }
        let long = length.unwrap_or(Nanos::MAX);
        let levels = |flat: Option<u64>, pieces: &Option<Vec<String>>| match (flat, pieces) {
            (Some(count), None) => Ok(Some(PopulationCurve::constant(count, length))),
            (None, Some(pieces)) => read_levels(pieces, long).map(Some),
            _ => Ok(None),
        };
        if let Some(times) = &self.trace {
            return Ok(Some(Load::Trace { times: read_times(times)?.into() }));
        }
        if self.pause.is_some() {
            return Ok(Some(Load::Pause));
        }
        if let Some(arrivals) = &self.arrivals {
            let rate = match (&self.rate, &self.curve) {
                (Some(rate), None) => RateCurve::constant(read_rate(rate)?, length),
                (None, Some(curve)) => curve.read(long)?,
                _ => return Ok(None),
            };
            let (arrivals, requests_each) = (one_of(arrivals, &ARRIVALS)?, self.requests_each);
            return Ok(Some(Load::Open { rate, arrivals, requests_each }));
        }
        let sessions_each = self.sessions_each;
        if let Some(connections) = levels(self.hold, &self.hold_levels)? {
            return Ok(Some(Load::Hold { connections, sessions_each }));
        }
        Ok(levels(self.users, &self.user_levels)?.map(|users| Load::Closed { users, sessions_each }))
    }
}
