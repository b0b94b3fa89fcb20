//! [`DirectorState`]: what a director tells of itself: a file that is there as soon as the rules are loaded.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use wavetank_plan::{UserError, sanitize};
use wavetank_topology::{Backend, Pool};

use crate::response::system;

/// The file's name in the folder of the service: a [`DirectorState`] as a JSON object.
pub(crate) const STATE_FILE: &str = "state.json";

/// What a director knows of the servers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DirectorState {
    /// In the order of the topology file.
    pub(crate) servers: Vec<ServerState>,
    /// How many take new connections.
    pub(crate) taking: usize,
}

/// One of them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ServerState {
    /// The host's name.
    name: String,
    port: u16,
    /// What it weighs for new connections at present, 0 for who is out or drained.
    weight: u32,
    /// What it is to weigh while it lives: the topology file's word, or that of `weights.json`.
    pub(crate) wanted: u32,
    /// Whether the checks say that it lives.
    pub(crate) alive: bool,
}

impl DirectorState {
    /// Of `servers` in `pool`.
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

    /// Writes it anew; whoever reads it sees the old one or the new one.
    pub(super) fn write(&self, folder: &Path) -> Result<(), UserError> {
        let next = folder.join("state.json.next");
        let text = serde_json::to_string(self).expect("it is lists, texts and numbers");
        let written = fs::write(&next, text).and_then(|()| fs::rename(&next, folder.join(STATE_FILE)));
        written.map_err(|error| system("the director cannot write what it knows", &error))
    }

    /// The last one that was written into `folder`; an error in words.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let text =
            fs::read_to_string(folder.join(STATE_FILE)).map_err(|error| format!("{STATE_FILE}: {error}"))?;
        serde_json::from_str(&text).map_err(|error| format!("{STATE_FILE}: {}", sanitize(&error.to_string())))
    }
}
