//! What is done to a lab's hosts on purpose, by the lab's keeper.

use serde_json::json;
use wavetank_lab::Client;
use wavetank_plan::UserError;
use wavetank_topology::Deed;

/// Begins it; it outlives this connection only if it is to be kept.
pub(super) fn begin(client: &mut Client, host: &str, deed: &Deed, keep: bool) -> Result<u64, UserError> {
    let begun = client.ask(&json!({ "ask": "fault", "host": host, "what": deed, "keep": keep }))?;
    begun["id"].as_u64().ok_or_else(|| {
        let message = "the lab's keeper began a fault and gave it no number";
        UserError::refused("lab_message", message, "wavetank lab down, then up")
    })
}

/// Takes it back.
pub(super) fn end(client: &mut Client, host: &str, id: u64) -> Result<(), UserError> {
    client.ask(&json!({ "ask": "fault_end", "host": host, "id": id })).map(drop)
}
