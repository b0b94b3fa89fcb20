//! [`read_fleet_file`]: the hosts of a fleet, with what ssh needs to reach them.

mod grammar;
mod read;

pub use read::read_fleet_file;

use serde_json::Map;
use wavetank_grammar::Diagnostics;
use wavetank_units::AllowTarget;

use crate::Inventory;

/// How controller and agents talk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FleetLink {
    /// Over the ssh sessions that start the agents.
    #[default]
    Ssh,
    /// Over the NATS server at this URL.
    Nats(String),
    /// Over a NATS server on the controller's host, which each agent reaches through a reverse
    /// tunnel of ssh.
    NatsTunnel,
}

/// Options of ssh for every host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SshSettings {
    /// Start commands by sudo.
    pub sudo: bool,
    /// Maximum number of simultaneous logins.
    pub fan_out: Option<u32>,
}

/// A fleet file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetFile {
    /// Its name.
    pub name: String,
    /// Its hosts. The groups `load` and `observe` are the hosts with these roles.
    pub inventory: Inventory,
    /// Options of ssh.
    pub ssh: SshSettings,
    /// How controller and agents talk.
    pub link: FleetLink,
    /// Targets that agents may load.
    pub allow: Vec<AllowTarget>,
}

/// The result of [`read_fleet_file`].
#[derive(Debug)]
pub struct ParsedFleetFile {
    /// The fleet; `None` if the diagnostics contain at least one error.
    pub fleet: Option<FleetFile>,
    /// All diagnostics.
    pub diagnostics: Diagnostics,
    /// The text that spans refer to, for [`wavetank_grammar::render`].
    pub text: String,
}

/// Returns the JSON Schema of fleet files (draft 2020-12), as text with a newline at its end.
pub fn fleet_schema() -> String {
    wavetank_grammar::schema::<grammar::MapName>(Map::new())
}
