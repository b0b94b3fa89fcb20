//! Replays the events that a ledger needs before the intervals: the lengths of phases, and the
//! times of changes to hosts.

use wavetank_measure::Ledger;
use wavetank_record::{EVENT_DONE, EVENT_UNDONE, EventLine, PHASE_ENDED};
use wavetank_units::Nanos;

/// Passes to `ledger` the events that it received during the run.
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
