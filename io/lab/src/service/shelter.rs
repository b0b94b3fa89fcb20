//! [`shelter`]: folders of a host's own over those that programs with a configuration of the user's write to.

use std::fs;
use std::path::Path;

use rustix::mount::{MountFlags, mount};
use wavetank_plan::UserError;
use wavetank_topology::{Host, ServiceKind};

use crate::answer::system;

/// Where distributions' configurations write: logs, temporary files, state.
const WRITTEN_TO: [&str; 5] =
    ["/var/log/nginx", "/var/lib/nginx", "/var/cache/nginx", "/var/log/haproxy", "/var/lib/haproxy"];
/// Below the host's own `/run`, which is empty.
const EXPECTED: [&str; 2] = ["/run/nginx", "/run/haproxy"];

/// Puts empty folders in memory over those that exist, if a service has a configuration of the user's own: it may write
/// anywhere, and the machine's files are none of the lab's. Generated ones stay in their own folder.
pub(super) fn shelter(host: &Host) -> Result<(), UserError> {
    let own = host.services.iter().any(|service| match &service.kind {
        ServiceKind::Nginx(nginx) => nginx.own.config.is_some(),
        ServiceKind::Haproxy(haproxy) => haproxy.own.config.is_some(),
        _ => false,
    });
    // Only PID 1 of a host has mounts of its own; anybody else would cover the machine's folders.
    if !own || std::process::id() != 1 {
        return Ok(());
    }
    for folder in WRITTEN_TO.iter().filter(|folder| Path::new(folder).is_dir()) {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("lab", *folder, "tmpfs", flags, c"mode=755,size=64m")
            .map_err(|errno| system(&format!("{folder} cannot be covered"), &errno))?;
    }
    EXPECTED.iter().try_for_each(|folder| {
        fs::create_dir_all(folder).map_err(|error| system(&format!("{folder} cannot be made"), &error))
    })
}
