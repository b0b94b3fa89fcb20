//! [`PhaseYaml`]: a phase in `plan.yaml`.

use serde::{Deserialize, Serialize};
use wavetank_plan::{Arrivals, Load, MaxOpenBy, Phase};

use super::exact::{exact_duration, exact_rate, read_duration, read_rate};
use super::{name_of, one_of};
use crate::DecodeError;

const ARRIVALS: [(&str, Arrivals); 2] = [("even", Arrivals::Even), ("poisson", Arrivals::Poisson)];
const MAX_OPEN_BY: [(&str, MaxOpenBy); 4] = [
    ("plan", MaxOpenBy::Plan),
    ("files", MaxOpenBy::Files),
    ("memory", MaxOpenBy::Memory),
    ("sources", MaxOpenBy::Sources),
];

/// Either `rate` and `arrivals` (open model) or `users` (closed model).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PhaseYaml {
    name: String,
    warmup: bool,
    start: String,
    #[serde(rename = "for")]
    length: Option<String>,
    requests_max: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arrivals: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    users: Option<u64>,
    scenario: usize,
    max_open: u64,
    max_open_by: String,
    connections: u64,
    open_before: bool,
}

impl PhaseYaml {
    pub(crate) fn new(phase: &Phase) -> Self {
        let Phase {
            name,
            warmup,
            start,
            length,
            requests_max,
            load,
            scenario,
            max_open,
            max_open_by,
            connections,
            open_before,
        } = phase;
        let (rate, arrivals, users) = match *load {
            Load::Open { rate, arrivals } => {
                (Some(exact_rate(rate)), Some(name_of(arrivals, &ARRIVALS)), None)
            }
            Load::Closed { users } => (None, None, Some(users)),
        };
        Self {
            name: name.clone(),
            warmup: *warmup,
            start: exact_duration(*start),
            length: length.map(exact_duration),
            requests_max: *requests_max,
            rate,
            arrivals: arrivals.map(str::to_owned),
            users,
            scenario: *scenario,
            max_open: *max_open,
            max_open_by: name_of(*max_open_by, &MAX_OPEN_BY).to_owned(),
            connections: *connections,
            open_before: *open_before,
        }
    }

    pub(crate) fn read(&self) -> Result<Phase, DecodeError> {
        let load = match (&self.rate, &self.arrivals, self.users) {
            (Some(rate), Some(arrivals), None) => {
                Load::Open { rate: read_rate(rate)?, arrivals: one_of(arrivals, &ARRIVALS)? }
            }
            (None, None, Some(users)) => Load::Closed { users },
            _ => return Err(DecodeError::new(format!("phase `{}` has no load, or two", self.name))),
        };
        Ok(Phase {
            name: self.name.clone(),
            warmup: self.warmup,
            start: read_duration(&self.start)?,
            length: self.length.as_deref().map(read_duration).transpose()?,
            requests_max: self.requests_max,
            load,
            scenario: self.scenario,
            max_open: self.max_open,
            max_open_by: one_of(&self.max_open_by, &MAX_OPEN_BY)?,
            connections: self.connections,
            open_before: self.open_before,
        })
    }
}
