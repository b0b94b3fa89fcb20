//! [`FleetHosts`]: the load hosts of a fleet.

use std::net::{IpAddr, ToSocketAddrs as _};
use std::path::Path;
use std::process::Command;

use wavetank_inventory::{Host, HostRole};
use wavetank_ssh::SshOptions;
use wavetank_units::{Code, UserError, sanitize};

use super::net_hosts::{NetHost, NetHosts};
use crate::cli::{HostArgs, SshArgs};
use crate::commands::fleet::Selection;

/// The program that `fleet up` copied, as a shell on its host reads it.
const PROGRAM: &str = "\"$HOME\"/.wavetank/agent/wavetank";

/// Load hosts of a fleet.
pub(super) struct FleetHosts {
    hosts: Vec<NetHost>,
    /// The same hosts, as ssh reaches them.
    reached: Vec<Host>,
    options: SshOptions,
    sudo: bool,
}

impl FleetHosts {
    /// Reads the load hosts of a fleet file.
    ///
    /// # Errors
    /// A file with mistakes, or without load hosts.
    pub(super) fn read(file: &Path, ssh_config: Option<&Path>) -> Result<Self, UserError> {
        let all = HostArgs { fleet: Some(file.to_owned()), ..HostArgs::default() };
        let ssh = SshArgs { ssh_config: ssh_config.map(Path::to_owned), ..SshArgs::default() };
        let selection = Selection::read(&all)?;
        let (options, sudo) = selection.ssh_options(&ssh);
        let reached: Vec<Host> =
            selection.hosts.into_iter().filter(|host| host.role == HostRole::Load).collect();
        let hosts = reached.iter().map(|host| NetHost { name: host.name.clone(), role: "load".to_owned() });
        Ok(Self { hosts: hosts.collect(), reached, options, sudo })
    }
}

impl NetHosts for FleetHosts {
    fn hosts(&self) -> &[NetHost] {
        &self.hosts
    }

    fn address(&self, _from: usize, to: usize) -> Result<IpAddr, UserError> {
        let host = &self.reached[to];
        let name = host.address.as_ref().unwrap_or(&host.name);
        let found = (name.as_str(), 0).to_socket_addrs().ok().and_then(|all| {
            let mut all: Vec<IpAddr> = all.map(|address| address.ip()).collect();
            all.sort_by_key(IpAddr::is_ipv6);
            all.first().copied()
        });
        found.ok_or_else(|| {
            let message = format!("cannot find the address of `{}`", sanitize(name));
            UserError::refused(Code::NetNameUnknown, message, "give its `address` in the fleet file")
        })
    }

    fn command(&self, host: usize) -> Command {
        let text = format!(
            "[ -x {PROGRAM} ] || {{ echo 'wavetank is not installed: use wavetank fleet up' >&2; exit 3; }}\n\
             exec {PROGRAM} net endpoint"
        );
        self.options.attached(&self.reached[host], &text, self.sudo)
    }
}
