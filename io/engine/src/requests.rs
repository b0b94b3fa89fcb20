//! [`Requests`]: what connections must know of every step's request.

use std::sync::Arc;

use wavetank_journey::{Journeys, Keeps, StepWork};
use wavetank_plan::Nanos;

/// One step's request as it goes over the wire.
pub(crate) struct Rendered {
    /// What is sent, unless a session has something of its own to say.
    pub(crate) bytes: Arc<[u8]>,
    /// The answer has no body.
    pub(crate) head: bool,
    /// May be sent again on another connection (RFC 9110 §9.2.2).
    pub(crate) idempotent: bool,
    /// Index into the plan's targets.
    pub(crate) target: u16,
    /// From *begun* to *complete*.
    pub(crate) timeout: Nanos,
    /// What of the answer must be kept.
    pub(crate) keeps: Keeps,
}

/// All steps' requests, by scenario and step.
pub(crate) struct Requests {
    scenarios: Vec<Vec<Rendered>>,
}

impl Requests {
    pub(crate) fn render(journeys: &Journeys) -> Self {
        let scenarios = journeys.scenarios.iter();
        let scenarios = scenarios.map(|journey| journey.steps.iter().map(Rendered::of).collect());
        Self { scenarios: scenarios.collect() }
    }

    #[inline]
    pub(crate) fn get(&self, scenario: u16, step: u16) -> &Rendered {
        &self.scenarios[usize::from(scenario)][usize::from(step)]
    }
}

impl Rendered {
    fn of(step: &StepWork) -> Self {
        Self {
            bytes: step.as_fixed().cloned().unwrap_or_default(),
            head: step.head,
            idempotent: step.idempotent,
            target: step.target,
            timeout: step.timeout,
            keeps: step.keeps(),
        }
    }
}
