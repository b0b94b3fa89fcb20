//! What a director tells of itself: a file that is there as soon as the rules are loaded.

use std::fs;
use std::path::Path;

use serde_json::json;
use wavetank_plan::UserError;
use wavetank_topology::{Backend, Pool};

use crate::answer::system;

/// The file's name in the folder of the service: a JSON object, `servers` with `name`, `port` and the `weight` that each
/// has for new connections at present, 0 for who is out or drained; `taking`, how many are not.
pub(crate) const STATE_FILE: &str = "state.json";

/// Writes it anew; whoever reads it sees the old one or the new one.
pub(super) fn write(folder: &Path, servers: &[Backend], pool: &Pool) -> Result<(), UserError> {
    let weights = pool.weights();
    let one = |(server, weight): (&Backend, &u32)| json!({ "name": server.name, "port": server.port, "weight": weight });
    let servers: Vec<_> = servers.iter().zip(&weights).map(one).collect();
    let text = json!({ "servers": servers, "taking": pool.taking() }).to_string();
    let next = folder.join("state.json.next");
    let written = fs::write(&next, text).and_then(|()| fs::rename(&next, folder.join(STATE_FILE)));
    written.map_err(|error| system("the director cannot write what it knows", &error))
}
