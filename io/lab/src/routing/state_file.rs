//! [`DirectorState`]: the state file of a director, which exists as soon as the rules are loaded.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use wavetank_topology::{Backend, Pool};
use wavetank_units::{UserError, sanitize};

use crate::response::system;

/// The file's name in the folder of the service: a [`DirectorState`] as a JSON object.
pub(crate) const STATE_FILE: &str = "state.json";

/// The director's knowledge of the servers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DirectorState {
    /// In the order of the topology file.
    pub(crate) servers: Vec<ServerState>,
    /// Number of servers that take new connections.
    pub(crate) taking: usize,
}

/// One server.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ServerState {
    /// The host's name.
    name: String,
    port: u16,
    /// Its current weight for new connections; 0 if it is out or drained.
    weight: u32,
    /// Its weight while it is alive: that of `weights.json` or of the topology file.
    pub(crate) wanted: u32,
    /// Whether it is alive according to the checks.
    pub(crate) alive: bool,
}

impl DirectorState {
    /// Returns the state of `servers` in `pool`.
    pub(super) fn from_pool(servers: &[Backend], pool: &Pool) -> Self {
        let weights = pool.weights();
        let one = |(index, (server, weight)): (usize, (&Backend, &u32))| ServerState {
            name: server.name.clone(),
            port: server.port,
            weight: *weight,
            wanted: pool.target_weight(index),
            alive: pool.is_alive(index),
        };
        let servers = servers.iter().zip(&weights).enumerate().map(one).collect();
        Self { servers, taking: pool.accepting_count() }
    }

    /// Replaces the file atomically; a reader sees either the old or the new content.
    pub(super) fn write(&self, folder: &Path) -> Result<(), UserError> {
        let next = folder.join("state.json.next");
        let text = serde_json::to_string(self).expect("it is lists, texts and numbers");
        let written = fs::write(&next, text).and_then(|()| fs::rename(&next, folder.join(STATE_FILE)));
        written.map_err(|error| system("the director cannot write its state", &error))
    }

    /// Returns the last state written into `folder`; the error is a message.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let text =
            fs::read_to_string(folder.join(STATE_FILE)).map_err(|error| format!("{STATE_FILE}: {error}"))?;
        serde_json::from_str(&text).map_err(|error| format!("{STATE_FILE}: {}", sanitize(&error.to_string())))
    }
}
