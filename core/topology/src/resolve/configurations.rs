//! Finds configurations that cannot be rendered: too many connections for the open-file limit, or
//! directives to leave out that do not occur.

use wavetank_grammar::Diagnostics;

use super::Draft;
use crate::render::{HostResources, haproxy, nginx};
use crate::{MachineFacts, ServiceKind};

/// Renders all configurations as inside the hosts and keeps their errors. If the machine is
/// unknown, these errors are reported when the lab starts.
pub(super) fn check(draft: &Draft<'_>, machine: MachineFacts, out: &mut Diagnostics) {
    for host in &draft.hosts {
        let own = host.limits.cpus.as_ref().map(|cpus| cpus.len() as u32);
        let (Some(cpus), Some(files)) = (own.or(machine.cpus), host.limits.open_files.or(machine.open_files))
        else {
            continue;
        };
        // The paths of the modules change only their own lines.
        let means = HostResources { cpus, files, lua_modules: Vec::new() };
        for service in &host.services {
            let made = match &service.kind {
                ServiceKind::Haproxy(kind) => haproxy(host, service, kind, 0, &means),
                ServiceKind::Nginx(kind) => nginx(host, service, kind, &means),
                _ => continue,
            };
            if let Err(told) = made {
                out.push(told);
            }
        }
    }
}
