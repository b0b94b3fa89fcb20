//! [`LabHosts`]: the hosts of a running lab.

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Command;

use wavetank_lab::{LabStatus, LabsFolder};
use wavetank_topology::Lab;
use wavetank_units::{Code, UserError};

use super::net_hosts::{NetHost, NetHosts};

/// Hosts of a running lab.
pub(super) struct LabHosts {
    name: String,
    lab: Lab,
    hosts: Vec<NetHost>,
    /// This program.
    program: PathBuf,
}

impl LabHosts {
    /// Reads the lab of this name.
    ///
    /// # Errors
    /// A lab that is not up.
    pub(super) fn read(name: &str) -> Result<Self, UserError> {
        let folder = LabsFolder::system().choose(Some(name))?;
        let status = LabStatus::read(&folder)?;
        if status.condition != "up" {
            let message = format!("lab `{name}` is not up");
            return Err(UserError::usage(Code::LabNotUp, message, "check it with `wavetank lab status`"));
        }
        let hosts = status.hosts.iter();
        let hosts =
            hosts.map(|host| NetHost { name: host.name.clone(), role: host.role.to_owned() }).collect();
        let program = std::env::current_exe().map_err(|error| {
            let message = format!("cannot find this program's file: {error}");
            UserError::refused(Code::NetProgram, message, "start it by its path")
        })?;
        Ok(Self { name: name.to_owned(), lab: folder.order()?.lab, hosts, program })
    }
}

impl NetHosts for LabHosts {
    fn hosts(&self) -> &[NetHost] {
        &self.hosts
    }

    fn address(&self, from: usize, to: usize) -> Result<IpAddr, UserError> {
        let interfaces = |host: usize| {
            let host = self.lab.host(&self.hosts[host].name);
            host.map(|host| host.interfaces.as_slice()).unwrap_or_default()
        };
        let common = interfaces(to)
            .iter()
            .find(|interface| interfaces(from).iter().any(|own| own.network == interface.network));
        // Without a common network, a router may connect them.
        let found = common.or_else(|| interfaces(to).first());
        found.and_then(|interface| interface.addresses.first()).map(|address| address.0).ok_or_else(|| {
            let message = format!("host `{}` has no address", self.hosts[to].name);
            UserError::usage(Code::NetHostUnknown, message, "select hosts with a network: --from and --to")
        })
    }

    fn command(&self, host: usize) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["lab", "exec", &self.hosts[host].name, "--lab", &self.name, "--"]);
        command.arg(&self.program).args(["net", "endpoint"]);
        command
    }
}
