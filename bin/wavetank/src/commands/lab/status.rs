//! `wavetank lab status`.

use std::fmt::Write;

use serde_json::{Value, json};
use wavetank_lab::{HostStatus, LabStatus, LabsFolder, versioned};
use wavetank_units::{ExitCode, UserError, sanitize};

use crate::cli::FileFormat;
use crate::output;

/// Shows all labs, or the one with this name. Exit 0, even if there is none.
pub(super) fn status(labs: &LabsFolder, name: Option<&str>, format: FileFormat) -> Result<u8, UserError> {
    let folders = match name {
        Some(name) => vec![labs.choose(Some(name))?],
        None => labs.labs(),
    };
    let labs = folders.iter().map(LabStatus::read).collect::<Result<Vec<_>, _>>()?;
    output::print(&match format {
        FileFormat::Json => {
            let labs: Vec<Value> = labs.iter().map(LabStatus::json).collect();
            format!("{}\n", json!({ "schema": "wavetank.labs/1", "labs": labs }))
        }
        FileFormat::Text if labs.is_empty() => {
            "there is no lab; wavetank lab up FILE brings one up\n".to_owned()
        }
        FileFormat::Text => labs.iter().map(text).collect::<Vec<_>>().join("\n"),
    })?;
    Ok(ExitCode::Pass as u8)
}

/// Describes one lab: one line for the lab, one for each host, and one for each service that is not
/// up.
pub(super) fn text(lab: &LabStatus) -> String {
    let LabStatus { name, condition: state, file, running, hosts } = lab;
    let file = file.as_ref().map(|file| format!(", of {}", sanitize(file))).unwrap_or_default();
    let running = if *running { ", used by a run" } else { "" };
    let mut text = format!("lab {name}: {state}{file}{running}\n");
    if *state == "dead" {
        let _ = writeln!(text, "  its keeper was killed; wavetank lab down --lab {name} removes the rest");
    }
    if *state == "silent" {
        let _ = writeln!(text, "  its keeper does not respond; wavetank lab down --lab {name} ends it");
    }
    let width = |column: fn(&HostStatus) -> usize| hosts.iter().map(column).max().unwrap_or_default();
    let (names, roles) = (width(|host| host.name.len()), width(|host| host.role.len()));
    let addresses: Vec<String> = hosts.iter().map(addresses).collect();
    let reach = addresses.iter().map(String::len).max().unwrap_or_default();
    for (host, addresses) in hosts.iter().zip(&addresses) {
        let HostStatus { name, role, pid, services, silent, .. } = host;
        let services = if *silent {
            "it does not respond: it is stopped or busy".to_owned()
        } else if pid.is_none() && *state == "up" {
            "its process has ended".to_owned()
        } else {
            services.iter().map(service).collect::<Vec<_>>().join(", ")
        };
        let line = format!("  {name:names$}  {role:roles$}  {addresses:reach$}  {services}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Maximum number of addresses shown per host. A load host may have hundreds.
const ADDRESSES_SHOWN: usize = 3;

fn addresses(host: &HostStatus) -> String {
    let shown = host.addresses.iter().take(ADDRESSES_SHOWN).map(ToString::to_string).collect::<Vec<_>>();
    let more = host.addresses.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(" "))
}

/// Describes a service: name, version, and its state unless it is up.
fn service(service: &Value) -> String {
    let word = |key: &str| service[key].as_str().map(sanitize).unwrap_or_default();
    let (name, version) = (word("name"), word("version"));
    let program = if version.is_empty() { name.into_owned() } else { versioned(&name, &version) };
    let state = if word("state") == "up" { String::new() } else { format!(" ({})", word("state")) };
    format!("{program}{state}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lab(condition: &'static str, hosts: Vec<HostStatus>) -> LabStatus {
        let file = Some("shop.yaml".to_owned());
        LabStatus { name: "shop".to_owned(), condition, file, running: false, hosts }
    }

    fn host(name: &str, role: &'static str, addresses: usize, services: &[Value]) -> HostStatus {
        let address = |number: usize| std::net::IpAddr::from([10, 30, 0, number as u8 + 1]);
        HostStatus {
            name: name.to_owned(),
            role,
            addresses: (0..addresses).map(address).collect(),
            pid: Some(7),
            services: services.to_vec(),
            silent: false,
        }
    }

    #[track_caller]
    fn check(lab: &LabStatus, expected: &str) {
        assert_eq!(text(lab), expected);
    }

    #[test]
    fn hosts_stand_in_columns() {
        let haproxy = json!({ "name": "haproxy", "state": "up", "version": "HAProxy 2.6.12" });
        let serve = json!({ "name": "serve", "state": "stopped" });
        let hosts = vec![
            host("load1", "load", 5, &[]),
            host("lb1", "balancer", 1, &[haproxy]),
            host("app", "server", 1, &[serve]),
        ];
        check(
            &lab("up", hosts),
            "lab shop: up, of shop.yaml\n\
             \x20 load1  load      10.30.0.1 10.30.0.2 10.30.0.3 and 2 more\n\
             \x20 lb1    balancer  10.30.0.1                                 haproxy 2.6.12\n\
             \x20 app    server    10.30.0.1                                 serve (stopped)\n",
        );
    }

    #[test]
    fn a_dead_one_says_how_to_be_rid_of_it() {
        check(
            &lab("dead", vec![]),
            "lab shop: dead, of shop.yaml\n  its keeper was killed; wavetank lab down --lab shop removes the rest\n",
        );
    }

    #[test]
    fn a_silent_host_is_reported() {
        let silent = HostStatus { silent: true, ..host("lb1", "balancer", 1, &[]) };
        check(
            &lab("up", vec![silent]),
            "lab shop: up, of shop.yaml\n  lb1  balancer  10.30.0.1  it does not respond: it is stopped or busy\n",
        );
        check(
            &lab("silent", vec![]),
            "lab shop: silent, of shop.yaml\n  its keeper does not respond; wavetank lab down --lab shop ends it\n",
        );
    }

    #[test]
    fn a_host_that_has_gone_is_reported() {
        let gone = HostStatus { pid: None, ..host("lb1", "balancer", 1, &[]) };
        check(
            &lab("up", vec![gone]),
            "lab shop: up, of shop.yaml\n  lb1  balancer  10.30.0.1  its process has ended\n",
        );
    }
}
