//! Replays the events that a ledger needs before the intervals: the lengths of phases, and the
//! times of changes to hosts.

use wavetank_measure::Ledger;
use wavetank_record::{EventKind, EventLine};
use wavetank_units::Nanos;

/// Passes to `ledger` the events that it received during the run.
pub(crate) fn replay_events(events: &[EventLine], ledger: &mut Ledger) {
    for event in events {
        let at = Nanos(event.at_ns);
        match (EventKind::from_name(&event.kind), event.phase, event.event) {
            (Some(EventKind::PhaseEnded), Some(phase), _) => ledger.phase_ended(phase, at),
            (Some(EventKind::EventDone), _, Some(event)) => ledger.event_began(event, at),
            (Some(EventKind::EventUndone), _, Some(event)) => ledger.event_ended(event, at),
            _ => {}
        }
    }
}
