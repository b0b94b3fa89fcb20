//! [`LabStatus`]: the status of a lab.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::{Value, json};
use wavetank_units::{Code, UserError};

use crate::client::Client;
use crate::state::Phase;
use crate::{LabFolder, LabState};

/// Time limit for a keeper's answer. The keeper itself waits 2 s for its hosts.
const KEEPER_MAX: Duration = Duration::from_secs(5);

/// The status of a lab.
#[derive(Clone, Debug, PartialEq)]
pub struct LabStatus {
    /// Its name.
    pub name: String,
    /// `rising`, `up` or `falling`; `silent` if its keeper does not answer; `dead` if it has no
    /// keeper, and only its folder and other remains exist.
    pub condition: &'static str,
    /// The topology file it was made from; `None` if it is not known yet.
    pub file: Option<String>,
    /// Whether a run uses it.
    pub running: bool,
    /// Its hosts, in the topology's order.
    pub hosts: Vec<HostStatus>,
}

/// The status of a host of a lab.
#[derive(Clone, Debug, PartialEq)]
pub struct HostStatus {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: &'static str,
    /// Its addresses, those of its interfaces first.
    pub addresses: Vec<IpAddr>,
    /// Its first process, as numbered by the machine; `None` if there is none.
    pub pid: Option<u32>,
    /// Its services, as reported by the host: objects with `name`, `state`, `pids`, `version` and
    /// `said`.
    pub services: Vec<Value>,
    /// Whether it does not answer because it is stopped or busy.
    pub silent: bool,
}

impl LabStatus {
    /// Reads the status of the lab in `folder`.
    pub fn read(folder: &LabFolder) -> Result<Self, UserError> {
        let state = LabState::read(folder.path())?;
        let mut condition = state.as_ref().map_or("dead", state_text);
        // A lab that is starting has no specification yet.
        let order = folder.order().ok();
        let reported = match (condition == "up").then(|| keeper_answer(folder)) {
            // The status of the other labs must still be reported.
            Some(Err(error)) if error.code == Code::LabSilent => {
                condition = "silent";
                Value::Null
            }
            Some(reported) => reported?,
            None => Value::Null,
        };
        let hosts = order.iter().flat_map(|order| &order.lab.hosts).map(|host| {
            let virtuals = host.virtual_addresses.iter().map(|one| one.address);
            let own = host
                .interfaces
                .iter()
                .flat_map(|interface| &interface.addresses)
                .map(|(address, _)| *address);
            let reported = reported["hosts"]
                .as_array()
                .and_then(|hosts| hosts.iter().find(|one| one["name"] == *host.name));
            HostStatus {
                name: host.name.clone(),
                role: host.role.as_str(),
                addresses: own.chain(virtuals).collect(),
                pid: reported.and_then(|host| u32::try_from(host["pid"].as_u64()?).ok()),
                services: reported.and_then(|host| host["services"].as_array().cloned()).unwrap_or_default(),
                silent: reported.is_some_and(|host| host["silent"] == true),
            }
        });
        Ok(Self {
            name: folder.name().to_owned(),
            condition,
            running: reported["running"] == true,
            hosts: hosts.collect(),
            file: order.as_ref().map(|order| order.file.clone()),
        })
    }

    /// Returns the JSON form, for scripts.
    pub fn json(&self) -> Value {
        let Self { name, condition, file, running, hosts } = self;
        let one = |host: &HostStatus| {
            let HostStatus { name, role, addresses, pid, services, silent } = host;
            json!({
                "name": name, "role": role, "addresses": addresses, "pid": pid, "services": services, "silent": silent,
            })
        };
        let hosts: Vec<Value> = hosts.iter().map(one).collect();
        json!({ "name": name, "stands": condition, "file": file, "running": running, "hosts": hosts })
    }
}

/// Returns the keeper's answer, if it arrives in time.
fn keeper_answer(folder: &LabFolder) -> Result<Value, UserError> {
    let mut client = Client::connect(folder)?;
    client.set_read_timeout(KEEPER_MAX)?;
    client.request(&json!({ "ask": "status" }))
}

/// Returns a service with the version of its program, as text: `nginx 1.22.1`, `web nginx 1.22.1`.
pub fn versioned(service: &str, version: &str) -> String {
    match version.split_once(' ') {
        // Most services have the name of their program.
        Some((program, number)) if program.eq_ignore_ascii_case(service) => format!("{service} {number}"),
        _ => format!("{service} {version}"),
    }
}

fn state_text(state: &LabState) -> &'static str {
    match state.phase {
        _ if state.keeper.marked(&state.mark).is_none() => "dead",
        Phase::Rising => "rising",
        Phase::Up => "up",
        Phase::Falling => "falling",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(service: &str, version: &str, expected: &str) {
        assert_eq!(versioned(service, version), expected);
    }

    #[test]
    fn no_name_is_reported_twice() {
        check("nginx", "nginx 1.22.1", "nginx 1.22.1");
        check("haproxy", "HAProxy 2.6.12-1+deb12u4", "haproxy 2.6.12-1+deb12u4");
        check("web", "nginx 1.22.1", "web nginx 1.22.1");
        check("serve", "wavetank 0.1.0", "serve wavetank 0.1.0");
        check("mine", "whatever", "mine whatever");
    }
}
