//! [`LabHand`]: does to a lab's hosts what the plan's events say, by the lab's keeper.

use serde_json::json;
use wavetank_lab::{Client, LabFolder};
use wavetank_plan::{EventPlan, UserError};
use wavetank_topology::{Deed, Lab};

use super::Hand;

/// One connection to the keeper: what was begun on it and not taken back is taken back when it closes, however this
/// process ends.
pub(crate) struct LabHand {
    lab: Lab,
    client: Client,
}

impl LabHand {
    /// A hand for `lab`, which is up in `folder`.
    ///
    /// # Errors
    /// Where nobody keeps it.
    pub(crate) fn new(lab: &Lab, folder: &LabFolder) -> Result<Self, UserError> {
        Ok(Self { lab: lab.clone(), client: Client::connect(folder)? })
    }
}

impl Hand for LabHand {
    fn begin(&mut self, event: &EventPlan) -> Result<u64, UserError> {
        let deed = Deed::of(event, &self.lab)?;
        begin_deed(&mut self.client, &event.host, &deed, false)
    }

    fn end(&mut self, event: &EventPlan, id: u64) -> Result<(), UserError> {
        end_deed(&mut self.client, &event.host, id)
    }
}

/// Begins it; it outlives this connection only if it is to be kept.
pub(crate) fn begin_deed(client: &mut Client, host: &str, deed: &Deed, keep: bool) -> Result<u64, UserError> {
    let begun = client.ask(&json!({ "ask": "fault", "host": host, "what": deed, "keep": keep }))?;
    begun["id"].as_u64().ok_or_else(|| {
        let message = "the lab's keeper began a fault and gave it no number";
        UserError::refused("lab_message", message, "wavetank lab down, then up")
    })
}

/// Takes it back.
pub(crate) fn end_deed(client: &mut Client, host: &str, id: u64) -> Result<(), UserError> {
    client.ask(&json!({ "ask": "fault_end", "host": host, "id": id })).map(drop)
}
