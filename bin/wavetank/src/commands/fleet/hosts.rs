//! `wavetank fleet hosts`.

use serde_json::json;
use wavetank_inventory::{Host, HostRole};
use wavetank_units::{ExitCode, UserError};

use super::selection::Selection;
use crate::cli::{FileFormat, FleetHostsArgs};
use crate::output;

/// Prints the selected hosts. Nothing is connected to.
pub(super) fn hosts(args: &FleetHostsArgs) -> Result<u8, UserError> {
    let hosts = Selection::read(&args.hosts)?.hosts;
    let text = match args.format {
        FileFormat::Text => table(&hosts),
        FileFormat::Json => {
            format!("{}\n", json!({"hosts": hosts.iter().map(host_json).collect::<Vec<_>>()}))
        }
    };
    output::print(&text)?;
    Ok(ExitCode::Pass as u8)
}

const fn role_name(role: HostRole) -> &'static str {
    match role {
        HostRole::Load => "load",
        HostRole::Observe => "observe",
    }
}

fn host_json(host: &Host) -> serde_json::Value {
    let Host { name, address, user, port, identity, jump, role, weight, sources, observed_as } = host;
    json!({
        "name": name, "address": address, "user": user, "port": port, "identity": identity, "jump": jump,
        "role": role_name(*role), "weight": weight, "sources": sources, "as": observed_as,
    })
}

/// Returns a line for each host: its name, and what differs from it.
fn table(hosts: &[Host]) -> String {
    let width = hosts.iter().map(|host| host.name.chars().count()).max().unwrap_or(0);
    let line = |host: &Host| {
        let port = host.port.map(|port| format!("port {port}"));
        let user = host.user.as_ref().map(|user| format!("user {user}"));
        let jump = host.jump.as_ref().map(|jump| format!("through {jump}"));
        let weight = host.weight.map(|weight| format!("weight {weight}"));
        let observed = host.observed_as.as_ref().map(|kind| format!("observed as {kind}"));
        let parts = [host.address.clone(), port, user, jump, weight, observed];
        let rest: Vec<String> = parts.into_iter().flatten().collect();
        format!("{:width$}  {}", host.name, rest.join(" · ")).trim_end().to_owned() + "\n"
    };
    let count = if hosts.len() == 1 { "1 host".to_owned() } else { format!("{} hosts", hosts.len()) };
    format!("{}\n{count}\n", hosts.iter().map(line).collect::<String>())
}
