//! [`Stage`]: what a [`Scene`] is made of, kept for the next one.

use std::sync::Arc;

use wavetank_journey::extract::Reading;
use wavetank_journey::rows::Table;
use wavetank_journey::value::Finds;
use wavetank_journey::{Journeys, Scene};
use wavetank_pace::Share;
use wavetank_plan::{Nanos, Plan};

/// See the module's description.
pub(super) struct Stage {
    plan: Arc<Plan>,
    tables: Arc<[Table]>,
    share: Share,
    /// Wall-clock milliseconds at the thread clock's zero.
    wall_zero_ms: u64,
    seq: u64,
    scratch: Vec<u8>,
    reading: Reading,
    finds: Finds,
}

impl Stage {
    pub(super) fn new(plan: &Arc<Plan>, journeys: &Journeys, share: Share, wall_zero_ms: u64) -> Self {
        Self {
            plan: Arc::clone(plan),
            tables: Arc::clone(&journeys.tables),
            share,
            wall_zero_ms,
            seq: 0,
            scratch: Vec::new(),
            reading: Reading::default(),
            finds: Finds::default(),
        }
    }

    pub(super) fn scene(&mut self, now: Nanos) -> Scene<'_> {
        Scene {
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
