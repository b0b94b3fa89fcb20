//! [`LabEventExecutor`]: does to a lab's hosts what the plan's events say, by the lab's keeper.

use serde_json::json;
use wavetank_lab::{Client, LabFolder};
use wavetank_plan::PlannedEvent;
use wavetank_topology::{HostAction, Lab};
use wavetank_units::{Code, UserError};

use super::EventExecutor;

/// One connection to the keeper. When it closes, the keeper reverts every action that was started
/// on it and not reverted, however this process ends.
pub(crate) struct LabEventExecutor {
    lab: Lab,
    client: Client,
}

impl LabEventExecutor {
    /// Creates an executor for `lab`, which is up in `folder`.
    ///
    /// # Errors
    /// A lab without a running keeper.
    pub(crate) fn new(lab: &Lab, folder: &LabFolder) -> Result<Self, UserError> {
        Ok(Self { lab: lab.clone(), client: Client::connect(folder)? })
    }
}

impl EventExecutor for LabEventExecutor {
    fn begin(&mut self, event: &PlannedEvent) -> Result<u64, UserError> {
        let running_event = HostAction::from_event(event, &self.lab)?;
        start_action(&mut self.client, &event.host, &running_event, false)
    }

    fn end(&mut self, event: &PlannedEvent, id: u64) -> Result<(), UserError> {
        revert_action(&mut self.client, &event.host, id)
    }
}

/// Begins it; it outlives this connection only if it is to be kept.
pub fn start_action(
    client: &mut Client,
    host: &str,
    running_event: &HostAction,
    keep: bool,
) -> Result<u64, UserError> {
    let begun =
        client.request(&json!({ "ask": "fault", "host": host, "what": running_event, "keep": keep }))?;
    begun["id"].as_u64().ok_or_else(|| {
        let message = "the lab's keeper injected a fault without giving it a number";
        UserError::refused(Code::LabMessage, message, "run `wavetank lab down`, then `wavetank lab up`")
    })
}

/// Takes it back.
pub fn revert_action(client: &mut Client, host: &str, id: u64) -> Result<(), UserError> {
    client.request(&json!({ "ask": "fault_end", "host": host, "id": id })).map(drop)
}
