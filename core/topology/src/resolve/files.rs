//! Whether the processes of a service may open as many files as its connections take.

use wavetank_experiment::{Diagnostic, Diagnostics};
use wavetank_plan::quantity::show_whole;

use super::Draft;
use crate::{Host, Machine, NginxWork, Service, ServiceKind};

/// Files of a process beside those of connections: its own, listeners of all threads, checks, logs.
const FILES_BESIDE: u64 = 200;

/// Tells services that are made for more connections than their processes can hold.
pub(super) fn tell(draft: &Draft<'_>, machine: Machine, out: &mut Diagnostics) {
    for host in &draft.hosts {
        let Some(allowed) = host.limits.open_files.or(machine.open_files) else { continue };
        for service in &host.services {
            short(host, service, machine, allowed, out);
        }
    }
}

fn short(host: &Host, service: &Service, machine: Machine, allowed: u64, out: &mut Diagnostics) {
    let Some(connections) = service.connections else { return };
    // What passes connections on has a file towards either side. nginx's workers are processes, each with a limit of its
    // own. `wavetank serve` finds itself more tables of files.
    let (files_each, processes, key) = match &service.kind {
        ServiceKind::Haproxy(_) => (2, 1, "copies"),
        ServiceKind::Nginx(nginx) => {
            let own = host.limits.cpus.as_ref().map(|cpus| cpus.len() as u64);
            let workers = nginx.workers.map(u64::from).or(own).or(machine.cpus.map(u64::from));
            let Some(workers) = workers else { return };
            let files = if matches!(nginx.work, NginxWork::Proxy { .. }) { 2 } else { 1 };
            (files, workers, "workers")
        }
        _ => return,
    };
    let room = allowed.saturating_sub(FILES_BESIDE) / files_each;
    let all = u64::from(service.copies) * processes;
    if room.saturating_mul(all) >= connections {
        return;
    }
    let (connections_shown, room_shown) = (show_whole(connections), show_whole(room));
    let message = format!(
        "`{}` is made for {connections_shown} connections; with {} open files a process holds {room_shown} here",
        service.name,
        show_whole(allowed),
    );
    let hint = if room == 0 {
        "limits: {open_files: …} leaves room for none".to_owned()
    } else {
        // The kernel deals connections out by chance, so the fullest process has some more than its part.
        let enough = (connections + connections / 20).div_ceil(room);
        let each = if key == "copies" { processes } else { u64::from(service.copies) };
        format!("{key}: {}", enough.div_ceil(each))
    };
    out.push(Diagnostic::error("lab_files_short", service.place_of("connections"), message, hint));
}
