//! Configurations that cannot be made: more connections than processes may open files for, directives to leave out that
//! there are not.

use wavetank_grammar::Diagnostics;

use super::Draft;
use crate::render::{HostResources, haproxy, nginx};
use crate::{MachineFacts, ServiceKind};

/// Makes all configurations as they are made inside the hosts, and keeps what is wrong with them. Where nothing is known of
/// the machine it is told when the lab comes up.
pub(super) fn check(draft: &Draft<'_>, machine: MachineFacts, out: &mut Diagnostics) {
    for host in &draft.hosts {
        let own = host.limits.cpus.as_ref().map(|cpus| cpus.len() as u32);
        let (Some(cpus), Some(files)) = (own.or(machine.cpus), host.limits.open_files.or(machine.open_files))
        else {
            continue;
        };
        // Where the modules lie changes nothing but their lines.
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
