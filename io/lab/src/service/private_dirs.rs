//! [`mount_private_dirs`]: mounts a host's own folders over those that servers write to by default.

use std::fs;
use std::path::Path;

use rustix::mount::{MountFlags, mount};
use wavetank_topology::{Host, ServiceKind};
use wavetank_units::UserError;

use crate::response::system;

/// Folders that distributions' configurations write to: logs, temporary files, state.
const WRITTEN_TO: [&str; 5] =
    ["/var/log/nginx", "/var/lib/nginx", "/var/cache/nginx", "/var/log/haproxy", "/var/lib/haproxy"];
/// Folders below the host's own `/run`, which is empty.
const EXPECTED: [&str; 2] = ["/run/nginx", "/run/haproxy"];

/// Mounts empty in-memory folders over the existing ones, if a service uses them. A user's
/// configuration may write there, and nginx opens its error log there before it has read any
/// configuration. The lab must not touch the machine's files.
pub(super) fn mount_private_dirs(host: &Host) -> Result<(), UserError> {
    let knows = |kind: &ServiceKind| matches!(kind, ServiceKind::Nginx(_) | ServiceKind::Haproxy(_));
    let needed = host.services.iter().any(|service| knows(&service.kind));
    if !needed || !super::is_host() {
        return Ok(());
    }
    for folder in WRITTEN_TO.iter().filter(|folder| Path::new(folder).is_dir()) {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("lab", *folder, "tmpfs", flags, c"mode=755,size=64m")
            .map_err(|errno| system(&format!("cannot mount over {folder}"), &errno))?;
    }
    EXPECTED.iter().try_for_each(|folder| {
        fs::create_dir_all(folder).map_err(|error| system(&format!("cannot create {folder}"), &error))
    })
}
