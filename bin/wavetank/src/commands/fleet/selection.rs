//! [`Selection`]: the hosts that the options select, from the files that they name.

use std::path::{Path, PathBuf};

use wavetank_grammar::Diagnostic;
use wavetank_inventory::{
    FleetFile, Host, HostSelection, Inventory, read_ansible, read_fleet_file, read_group, select_hosts,
};
use wavetank_ssh::SshOptions;
use wavetank_units::{Code, Nanos, UserError};

use crate::cli::{HostArgs, SshArgs};
use crate::commands::bounded_file::read_bounded;

/// Simultaneous connections, unless the fleet file or an option says otherwise; as in pdsh.
const FAN_OUT: usize = 32;
const CONNECT_TIMEOUT: Nanos = Nanos::from_secs(10);

/// The selected hosts, and what their file says about ssh.
pub(in crate::commands) struct Selection {
    pub(in crate::commands) hosts: Vec<Host>,
    /// The fleet file, if one was named.
    fleet: Option<FleetFile>,
}

impl Selection {
    /// Reads the named files and selects hosts.
    ///
    /// # Errors
    /// A file that cannot be read, with the place of its mistake; hosts or groups that are not in
    /// it; no hosts.
    pub(in crate::commands) fn read(args: &HostArgs) -> Result<Self, UserError> {
        let fleet = args.fleet.as_deref().map(fleet_file).transpose()?;
        let inventory = match (&fleet, &args.inventory) {
            (Some(fleet), _) => Some(fleet.inventory.clone()),
            (None, Some(path)) => Some(read_ansible(&path.display().to_string(), &read(path)?)?),
            (None, None) => None,
        };
        let mut only = args.hosts.clone();
        for group in &args.group {
            only.extend(group_hosts(group, inventory.as_ref())?);
        }
        let selection = HostSelection { only, without: args.exclude.clone() };
        let hosts = select_hosts(inventory.as_ref(), &selection)?;
        Ok(Self { hosts, fleet })
    }

    /// Returns the options of ssh, and whether commands start by sudo.
    pub(in crate::commands) fn ssh_options(&self, args: &SshArgs) -> (SshOptions, bool) {
        let options = SshOptions {
            config: args.ssh_config.clone(),
            user: args.user.clone(),
            connect_timeout: args.connect_timeout.unwrap_or(CONNECT_TIMEOUT),
        };
        (options, args.sudo || self.fleet.as_ref().is_some_and(|fleet| fleet.ssh.sudo))
    }

    /// Returns the maximum number of simultaneous connections.
    pub(in crate::commands) fn fan_out(&self, args: &SshArgs) -> usize {
        let from_file = self.fleet.as_ref().and_then(|fleet| fleet.ssh.fan_out).map(u64::from);
        let count = args.fan_out.or(from_file).and_then(|count| usize::try_from(count).ok());
        count.unwrap_or(FAN_OUT)
    }
}

impl Selection {
    /// Returns the fleet of the file, if one was named.
    pub(super) const fn fleet(&self) -> Option<&FleetFile> {
        self.fleet.as_ref()
    }
}

/// Reads a fleet file. All its mistakes are reported together, each with its place.
fn fleet_file(path: &Path) -> Result<FleetFile, UserError> {
    let bytes = read(path)?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let parsed = read_fleet_file(&stem, &bytes);
    let name = path.display();
    let error = |diagnostic: &&Diagnostic| {
        let place = diagnostic.place.map(|place| format!("{}:{}:", place.line, place.column));
        let message = format!("{name}:{} {}", place.unwrap_or_default(), diagnostic.message);
        UserError::usage(Code::BadFleetFile, message, diagnostic.hint.clone())
    };
    let errors = parsed.diagnostics.sorted().iter().map(error).collect();
    parsed.fleet.map_or_else(|| Err(UserError::combine(errors).expect("a mistake")), Ok)
}

/// Returns the hosts of a group: one of the inventory, or a file of dsh.
fn group_hosts(name: &str, inventory: Option<&Inventory>) -> Result<Vec<String>, UserError> {
    if let Some(hosts) = inventory.and_then(|inventory| inventory.group(name)) {
        return Ok(hosts.to_vec());
    }
    if name.is_empty() || name.contains('/') {
        let message = format!("`{name}` is not the name of a group");
        return Err(UserError::usage(
            Code::BadHostList,
            message,
            "-g NAME reads ~/.dsh/group/NAME or /etc/dsh/group/NAME",
        ));
    }
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".dsh/group"));
    let folders = home.into_iter().chain([PathBuf::from("/etc/dsh/group")]);
    let Some(path) = folders.map(|folder| folder.join(name)).find(|path| path.is_file()) else {
        let message = format!("there is no group `{name}`");
        return Err(UserError::usage(
            Code::BadHostList,
            message,
            format!("write its hosts into ~/.dsh/group/{name}"),
        ));
    };
    read_group(name, &String::from_utf8_lossy(&read(&path)?))
}

fn read(path: &Path) -> Result<Vec<u8>, UserError> {
    read_bounded(path).map_err(|reason| {
        let message = format!("{}: {reason}", path.display());
        UserError::usage(Code::BadFile, message, "name a file that can be read")
    })
}
