//! [`mount_private_dirs`]: folders of a host's own over those that servers write to unless their configuration says otherwise.

use std::fs;
use std::path::Path;

use rustix::mount::{MountFlags, mount};
use wavetank_plan::UserError;
use wavetank_topology::{Host, ServiceKind};

use crate::response::system;

/// Where distributions' configurations write: logs, temporary files, state.
const WRITTEN_TO: [&str; 5] =
    ["/var/log/nginx", "/var/lib/nginx", "/var/cache/nginx", "/var/log/haproxy", "/var/lib/haproxy"];
/// Below the host's own `/run`, which is empty.
const EXPECTED: [&str; 2] = ["/run/nginx", "/run/haproxy"];

/// Puts empty folders in memory over those that exist, if a service is of those that know them: a configuration of the
/// user's own may write there, and nginx begins its log of errors there before it has read any configuration. The machine's
/// files are none of the lab's.
pub(super) fn mount_private_dirs(host: &Host) -> Result<(), UserError> {
    let knows = |kind: &ServiceKind| matches!(kind, ServiceKind::Nginx(_) | ServiceKind::Haproxy(_));
    let needed = host.services.iter().any(|service| knows(&service.kind));
    // Only PID 1 of a host has mounts of its own; anybody else would cover the machine's folders.
    if !needed || std::process::id() != 1 {
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
