//! [`planned_events`]: the events of a run in a lab, from the experiment's events and the lab's
//! faults.

use wavetank_plan::PlannedEvent;
use wavetank_units::{Code, UserError};

use super::HostAction;
use crate::parse::expanded;
use crate::{Fault, Lab};

/// Maximum number of events of a run, with patterns expanded.
pub const EVENTS_MAX: usize = 256;

/// Returns the events of a run in `lab`, sorted by time. They consist of `of_experiment`, with host
/// patterns expanded, and of the lab's faults. All names in them are known to exist.
///
/// # Errors
/// A usage error for the first event that names something unknown, and for more than [`EVENTS_MAX`]
/// events.
pub fn planned_events(lab: &Lab, of_experiment: &[PlannedEvent]) -> Result<Vec<PlannedEvent>, UserError> {
    let mut events = Vec::new();
    for event in of_experiment {
        let hosts = expanded(&event.host).map_err(|hint| {
            let message = format!("`{}` is not a host name or a pattern", event.host);
            UserError::usage(Code::LabHost, message, hint)
        })?;
        for host in hosts {
            let event = PlannedEvent { host, ..event.clone() };
            // Invalid events must be found before anything is sent.
            HostAction::from_event(&event, lab)?;
            events.push(event);
        }
    }
    for fault in &lab.faults {
        let event = event_of(fault);
        HostAction::from_event(&event, lab)?;
        events.push(event);
    }
    if events.len() > EVENTS_MAX {
        let message = format!("{} events are more than a run can have", events.len());
        return Err(UserError::usage(
            Code::LabEventsMany,
            message,
            format!("at most {EVENTS_MAX}, with patterns expanded"),
        ));
    }
    events.sort_by_key(|event| event.when);
    Ok(events)
}

fn event_of(fault: &Fault) -> PlannedEvent {
    PlannedEvent {
        when: fault.when,
        host: fault.host.clone(),
        run: format!("{} {}", PlannedEvent::FAULT, fault.what),
        undo: None,
        lasts: fault.lasts,
    }
}
