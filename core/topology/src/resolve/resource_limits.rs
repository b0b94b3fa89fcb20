//! Compares the resource limits of hosts with the resources of the machine.

use wavetank_grammar::{Diagnostic, Diagnostics, Span};
use wavetank_units::Code;
use wavetank_units::quantity::format_grouped;

use super::draft::Draft;
use crate::{Host, Limits, MachineFacts, Role, ServiceKind};

/// Reports limits that the machine cannot provide.
pub(super) fn check(draft: &Draft<'_>, machine: MachineFacts, out: &mut Diagnostics) {
    let mut reported: Vec<Span> = Vec::new();
    for host in &draft.hosts {
        cpus(host, machine, out);
        // One entry of the file may describe many hosts.
        if host.role == Role::Load && !reported.contains(&host.limits.place) {
            reported.push(host.limits.place);
            of_load(&host.limits, out);
        }
        let limits = &host.limits;
        if let (Some(wanted), Some(most)) = (limits.open_files, machine.open_files)
            && wanted > most
        {
            let message =
                format!("{wanted} open files are requested, but this machine allows a process {most}");
            let hint = format!("use open_files: {most}, and several processes on one port: copies: 2");
            out.push(Diagnostic::error(Code::LabOpenFiles, limits.place, message, hint));
        }
        if let (Some(wanted), Some(has)) = (limits.memory_bytes, machine.memory_bytes)
            && wanted > has
        {
            let message = format!("{} MiB are more than this machine has", wanted >> 20);
            out.push(Diagnostic::warning(
                Code::LabMemory,
                limits.place,
                message,
                format!("it has {} MiB", has >> 20),
            ));
        }
    }
}

/// Reports limits that have no effect on load threads. These threads belong to wavetank and not to
/// the host's processes, so only the CPU limit applies to them.
fn of_load(limits: &Limits, out: &mut Diagnostics) {
    let all = [
        ("cpu", limits.cpu_share_milli.is_some()),
        ("memory", limits.memory_bytes.is_some()),
        ("open_files", limits.open_files.is_some()),
    ];
    let reported: Vec<&str> = all.iter().filter(|(_, set)| *set).map(|(name, _)| *name).collect();
    if reported.is_empty() {
        return;
    }
    let hold = if reported.len() == 1 { "does" } else { "do" };
    let message = format!(
        "{} {hold} not apply to the load threads, only to other programs in a load host",
        reported.join(", ")
    );
    let hint = "cpus applies to load threads too; with run --threads N each load host gets its share of N";
    out.push(Diagnostic::note(Code::LabLoadLimits, limits.place, message, hint));
}

fn cpus(host: &Host, machine: MachineFacts, out: &mut Diagnostics) {
    let Some(count) = machine.cpus else { return };
    let beyond = |all: &[u32]| all.iter().copied().find(|cpu| *cpu >= count);
    let hint = format!("this machine has CPUs 0 to {}", count.saturating_sub(1));
    let message = |cpu: u32| format!("there is no CPU {cpu} here");
    if let Some(cpu) = host.limits.cpus.as_deref().and_then(beyond) {
        out.push(Diagnostic::error(Code::LabCpus, host.limits.place, message(cpu), hint.clone()));
    }
    for service in &host.services {
        let ServiceKind::Haproxy(haproxy) = &service.kind else { continue };
        let place = service.place_of("pin");
        if let Some(cpu) = beyond(&haproxy.pin) {
            out.push(Diagnostic::error(Code::LabCpus, place, message(cpu), hint.clone()));
        }
        let outside = |cpus: &Vec<u32>| haproxy.pin.iter().copied().find(|cpu| !cpus.contains(cpu));
        if let Some(cpu) = host.limits.cpus.as_ref().and_then(outside) {
            let message =
                format!("CPU {} is not among those that `{}` may use", format_grouped(cpu.into()), host.name);
            out.push(Diagnostic::error(Code::LabCpus, place, message, "pin within limits: {cpus: …}"));
        }
    }
}
