//! `wavetank lab check FILE`.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use wavetank_topology::{Host, Lab, Role};
use wavetank_units::{ExitCode, UserError};

use super::lab_file::LabFile;
use super::preflight::Preflight;
use crate::cli::FileFormat;
use crate::experiment::{errors_json, remarks_json};
use crate::output;

/// Reads the file and everything it names, compares it with this machine where possible, and
/// reports every error: diagnostics on stderr, a description of the lab on stdout. Exit 0 if the
/// file is valid, even if this machine lacks something for it, which is reported; 2 if the file is
/// wrong. Nothing is created.
pub(in crate::commands) fn check(file: &Path, format: FileFormat) -> Result<u8, UserError> {
    let loaded = LabFile::read(file)?;
    let Some(lab) = &loaded.lab else { return wrong(&loaded, format) };
    if format == FileFormat::Text {
        loaded.print_diagnostics();
    }
    let tried = Preflight::run(lab, &loaded.name)?;
    match format {
        FileFormat::Text => {
            tried.print();
            output::print(&format!("{}: {}", loaded.name, text(lab)))?;
        }
        FileFormat::Json => {
            let mut answer = json(lab);
            answer["file"] = json!(loaded.name);
            answer["remarks"] = json!(remarks_json(&loaded.diagnostics));
            tried.write_to(&mut answer);
            output::print(&format!("{answer}\n"))?;
        }
    }
    Ok(ExitCode::Pass as u8)
}

/// Reports why the file is not a valid lab.
fn wrong(loaded: &LabFile, format: FileFormat) -> Result<u8, UserError> {
    match format {
        FileFormat::Text => loaded.print_diagnostics(),
        FileFormat::Json => {
            let first =
                loaded.diagnostics.first_error(&loaded.name).expect("without a lab there is an error");
            output::print(&format!("{}\n", errors_json(&first, &loaded.diagnostics)))?;
        }
    }
    Ok(ExitCode::Usage as u8)
}

/// Describes the lab: one line for the lab, and one for each host.
fn text(lab: &Lab) -> String {
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let services: usize = lab.hosts.iter().map(|host| host.services.len()).sum();
    let mut parts = vec![plural(lab.networks.len(), "network"), plural(lab.hosts.len(), "host")];
    for (count, what) in [(services, "service"), (lab.faults.len(), "fault")] {
        if count > 0 {
            parts.push(plural(count, what));
        }
    }
    let mut text = format!("{}, {}\n", lab.name, parts.join(", "));
    let width = lab.hosts.iter().map(|host| host.name.len()).max().unwrap_or_default();
    for host in &lab.hosts {
        let services: Vec<String> = host.services.iter().map(service).collect();
        let (name, role) = (&host.name, host.role.as_str());
        let line = format!("  {name:width$}  {role:8}  {}  {}", addresses(lab, host), services.join(", "));
        writeln!(text, "{}", line.trim_end()).expect("text takes everything");
    }
    if !lab.hosts.iter().any(|host| host.role == Role::Load) {
        text.push_str("  no host makes load: `wavetank lab run` needs one with role: load\n");
    }
    text
}

/// Returns each network of the host with its first address there, and the number of further
/// addresses.
fn addresses(lab: &Lab, host: &Host) -> String {
    let on = host.interfaces.iter().map(|one| {
        let first = one.addresses.first().map(|(address, _)| address.to_string()).unwrap_or_default();
        let more = match one.addresses.len() {
            0 | 1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        format!("{} {first}{more}", lab.networks[one.network].name)
    });
    let silent = host.virtual_addresses.iter().map(|one| format!("virtual {}", one.address));
    on.chain(silent).collect::<Vec<_>>().join(", ")
}

/// Describes a service: its name, its ports, and the number of servers behind it.
fn service(service: &wavetank_topology::Service) -> String {
    let mut text = service.name.clone();
    match service.listen.as_slice() {
        [] => {}
        [only] => write!(text, " :{only}").expect("text takes everything"),
        [first, .., last] => write!(text, " :{first}…{last}").expect("text takes everything"),
    }
    if service.copies > 1 {
        write!(text, " × {}", service.copies).expect("text takes everything");
    }
    match service.backends().len() {
        0 => {}
        count => write!(text, " → {count}").expect("text takes everything"),
    }
    text
}

fn json(lab: &Lab) -> Value {
    let hosts = lab.hosts.iter().map(|host| {
        let addresses = host.interfaces.iter().flat_map(|one| &one.addresses);
        json!({
            "name": host.name,
            "role": host.role.as_str(),
            "addresses": addresses.map(|(address, _)| address).collect::<Vec<_>>(),
            "services": host.services.iter().map(|one| json!({
                "name": one.name, "kind": one.kind.as_str(), "listen": one.listen, "copies": one.copies,
            })).collect::<Vec<_>>(),
        })
    });
    json!({
        "schema": "wavetank.lab_check/1",
        "ok": true,
        "name": lab.name,
        "networks": lab.networks.iter().map(|network| json!({
            "name": network.name, "subnet": network.subnet.to_string(),
        })).collect::<Vec<_>>(),
        "hosts": hosts.collect::<Vec<_>>(),
        "faults": lab.faults.len(),
    })
}
