//! [`Violation`]: counters that do not add up.

use std::fmt;

use wavetank_plan::Key;

use crate::{ConnCounts, ErrorClass, StepSeries};

/// Counters that do not add up: a defect of ours, which voids the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The key it concerns; `None`: connections, or sessions where the identity says so.
    pub key: Option<Key>,
    /// The violated identity, e.g. `offered = done + failed + dropped + open`.
    pub identity: &'static str,
    /// The counters, by name, for the dump.
    pub counters: Vec<(&'static str, u64)>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key {
            Some(Key { phase, scenario, step }) => {
                write!(f, "phase {phase}, scenario {scenario}, step {step}: {}", self.identity)?;
            }
            None if self.identity.starts_with("sessions") => f.write_str(self.identity)?,
            None => write!(f, "connections: {}", self.identity)?,
        }
        self.counters.iter().try_for_each(|(name, n)| write!(f, " · {name} {n}"))
    }
}

/// The identities of one key at a seal.
pub(crate) fn check_step(series: &StepSeries) -> Result<(), Violation> {
    let c = &series.counters;
    let resolved = c.done + c.failed() + c.dropped();
    let identity = if c.offered != resolved + series.open {
        "offered = done + failed + dropped + open"
    } else if c.sent + c.dropped() > c.offered {
        "sent + dropped <= offered"
    } else if c.done > c.sent {
        "done <= sent"
    } else if c.late > c.done + c.failed() {
        "late <= done + failed"
    } else if series.wire.sent
        != c.sent + series.wire.retried + series.wire.redirected + series.wire.resources
    {
        "wire.sent = sent + retried + redirected + resources"
    } else {
        return Ok(());
    };
    Err(Violation { key: Some(series.key), identity, counters: dump(series) })
}

/// The identities of one key's times once the run is over.
pub(crate) fn check_times(series: &StepSeries) -> Result<(), Violation> {
    let c = &series.counters;
    let censored: u64 = ErrorClass::ALL
        .iter()
        .filter(|class| class.is_censored())
        .map(|&class| c.errors[class as usize])
        .sum();
    let answered = c.done.saturating_sub(series.wire.one_way);
    let identity = if series.response.count() != answered + censored + series.open {
        "response count = done - one_way + connect_timeout + request_timeout + open"
    } else if series.service.count() != answered {
        "service count = done - one_way"
    } else {
        return Ok(());
    };
    Err(Violation { key: Some(series.key), identity, counters: dump(series) })
}

/// The identities of connections at a seal.
pub(crate) fn check_connections(c: &ConnCounts) -> Result<(), Violation> {
    let identity = if c.offered != c.opened + c.failed + c.opening {
        "offered = opened + failed + opening"
    } else if c.opened != c.closed + c.lost + c.open {
        "opened = closed + lost + open"
    } else if c.failed_by.iter().sum::<u64>() > c.failed {
        "failed of all classes <= failed"
    } else if c.lost_by.iter().sum::<u64>() > c.lost {
        "lost of all classes <= lost"
    } else if c.reopened > c.opened {
        "reopened <= opened"
    } else if c.late > c.offered {
        "late <= offered"
    } else {
        return Ok(());
    };
    let counters = vec![
        ("offered", c.offered),
        ("opened", c.opened),
        ("failed", c.failed),
        ("opening", c.opening),
        ("closed", c.closed),
        ("lost", c.lost),
        ("reopened", c.reopened),
        ("open", c.open),
    ];
    Err(Violation { key: None, identity, counters })
}

fn dump(series: &StepSeries) -> Vec<(&'static str, u64)> {
    let c = &series.counters;
    let mut counters = vec![
        ("offered", c.offered),
        ("sent", c.sent),
        ("done", c.done),
        ("failed", c.failed()),
        ("late", c.late),
        ("dropped", c.dropped()),
        ("open", series.open),
        ("wire_sent", series.wire.sent),
        ("retried", series.wire.retried),
        ("response", series.response.count()),
        ("service", series.service.count()),
    ];
    let errors = ErrorClass::ALL.iter().map(|&class| (class.name(), c.errors[class as usize]));
    counters.extend(errors.filter(|&(_, n)| n > 0));
    counters
}
