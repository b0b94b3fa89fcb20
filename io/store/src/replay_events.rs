//! What events tell a ledger ahead of the intervals: how long phases were, and what was done to hosts when.

use wavetank_measure::Ledger;
use wavetank_plan::Nanos;
use wavetank_record::{EVENT_DONE, EVENT_UNDONE, EventLine, PHASE_ENDED};

/// Tells `ledger` what it was told while the run went on.
pub(crate) fn replay_events(events: &[EventLine], ledger: &mut Ledger) {
    for event in events {
        let at = Nanos(event.at_ns);
        match (event.kind.as_str(), event.phase, event.event) {
            (PHASE_ENDED, Some(phase), _) => ledger.phase_ended(phase, at),
            (EVENT_DONE, _, Some(event)) => ledger.event_began(event, at),
            (EVENT_UNDONE, _, Some(event)) => ledger.event_ended(event, at),
            _ => {}
        }
    }
}
