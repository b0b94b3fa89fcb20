//! [`Requests`]: the properties of every step's request that connections must know.

use std::sync::Arc;

use wavetank_journey::{CompiledStep, Journeys};
use wavetank_units::Nanos;

use crate::request_flags::RequestFlags;

/// One step's request as it is sent.
pub(crate) struct RenderedRequest {
    /// The bytes to send, unless the session writes its own.
    pub(crate) bytes: Arc<[u8]>,
    /// The properties of the request and its response.
    pub(crate) flags: RequestFlags,
    /// Index into the plan's targets.
    pub(crate) target: u16,
    /// From *begun* to *complete*.
    pub(crate) timeout: Nanos,
}

/// All steps' requests, by scenario and step.
pub(crate) struct Requests {
    scenarios: Vec<Vec<RenderedRequest>>,
    reads_earlier_messages: bool,
}

impl Requests {
    pub(crate) fn render(journeys: &Journeys) -> Self {
        let scenarios = journeys.scenarios.iter();
        let scenarios = scenarios.map(|journey| journey.steps.iter().map(RenderedRequest::of).collect());
        let mut steps = journeys.scenarios.iter().flat_map(|journey| &journey.steps);
        let reads_earlier_messages = steps.any(CompiledStep::reads_earlier_messages);
        Self { scenarios: scenarios.collect(), reads_earlier_messages }
    }

    /// Whether some step reads messages that arrived before it started.
    pub(crate) const fn reads_earlier_messages(&self) -> bool {
        self.reads_earlier_messages
    }

    #[inline]
    pub(crate) fn get(&self, scenario: u16, step: u16) -> &RenderedRequest {
        &self.scenarios[usize::from(scenario)][usize::from(step)]
    }
}

impl RenderedRequest {
    fn of(step: &CompiledStep) -> Self {
        Self {
            bytes: step.as_fixed().cloned().unwrap_or_default(),
            flags: RequestFlags::from_step(step),
            target: step.target,
            timeout: step.timeout,
        }
    }
}
