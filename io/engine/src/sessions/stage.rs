//! [`RenderBuffers`]: the parts of a [`RenderContext`], kept for the next one.

use std::sync::Arc;

use wavetank_journey::data::Table;
use wavetank_journey::extract::ParseCache;
use wavetank_journey::value::Values;
use wavetank_journey::{Journeys, RenderContext};
use wavetank_pace::Partition;
use wavetank_plan::Plan;
use wavetank_units::Nanos;

/// The parts of a render context; see the module documentation.
pub(super) struct RenderBuffers {
    plan: Arc<Plan>,
    tables: Arc<[Table]>,
    share: Partition,
    /// Wall-clock milliseconds at the zero of the thread's clock.
    wall_zero_ms: u64,
    seq: u64,
    scratch: Vec<u8>,
    reading: ParseCache,
    finds: Values,
}

impl RenderBuffers {
    pub(super) fn new(plan: &Arc<Plan>, journeys: &Journeys, share: Partition, wall_zero_ms: u64) -> Self {
        Self {
            plan: Arc::clone(plan),
            tables: Arc::clone(&journeys.tables),
            share,
            wall_zero_ms,
            seq: 0,
            scratch: Vec::new(),
            reading: ParseCache::default(),
            finds: Values::default(),
        }
    }

    pub(super) fn scene(&mut self, now: Nanos) -> RenderContext<'_> {
        RenderContext {
            seed: self.plan.seed,
            tables: &self.tables,
            data: &self.plan.shared.data,
            wall_ms: self.wall_zero_ms.saturating_add_signed(now.0 / 1_000_000),
            share: self.share,
            seq: &mut self.seq,
            counts: &[],
            scratch: &mut self.scratch,
            reading: &mut self.reading,
            finds: &mut self.finds,
        }
    }
}
