//! Lists of hosts as people keep them.
//!
//! [`expand_hosts`] reads ranges as pdsh writes them (`load[01-20]`), and [`fold_hosts`] writes
//! them. [`read_group`] reads a group of dsh, [`read_ansible`] an Ansible inventory, and
//! [`read_fleet_file`] a fleet file. [`select_hosts`] combines them into the hosts of a command.
//! [`fold_outputs`] groups hosts with the same output. Nothing here reads a file or connects.

mod ansible;
mod dsh_group;
mod fleet_file;
mod fold;
mod host;
mod host_range;
mod selection;

pub use ansible::read_ansible;
pub use dsh_group::read_group;
pub use fleet_file::{FleetFile, FleetLink, ParsedFleetFile, SshSettings, fleet_schema, read_fleet_file};
pub use fold::{HostOutput, OutputGroup, fold_outputs};
pub use host::{Host, HostRole, Inventory};
pub use host_range::{HOSTS_MAX, expand_hosts, fold_hosts};
pub use selection::{HostSelection, select_hosts};
