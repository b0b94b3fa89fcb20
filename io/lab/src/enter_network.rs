//! [`enter_network`]: moves this process into a host's network, with the names that the host knows.
//!
//! Unlike [`HostHandle::run`](crate::HostHandle::run) it keeps its PID namespace, its files and its
//! `/proc`. It continues to write where it was started, and can watch all hosts of the lab from
//! there.

use std::fs;
use std::path::Path;

use nix::sched::{CloneFlags, unshare};
use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
use wavetank_driver::NetworkNamespace;
use wavetank_units::UserError;

use crate::response::system;
use crate::{HostHandle, LabFolder};

/// Files for name resolution, and whether the machine must have them. Without `/etc/hosts` there is
/// nothing to mount the host's file over, so its names would be unknown. Without `/etc/resolv.conf`
/// no external server is asked anyway.
const NAME_FILES: [(&str, bool); 2] = [("hosts", true), ("resolv.conf", false)];

/// Moves the calling thread, and all that it starts later, into the network of `host`. It gets its
/// own mount namespace, in which the host's names replace this machine's. Call it before there are
/// other threads.
///
/// # Errors
/// A missing host, names that cannot be read from it, or missing rights.
pub fn enter_network(folder: &LabFolder, host: &str) -> Result<(), UserError> {
    let entrance = HostHandle::to(folder, host)?;
    let state = folder.state()?;
    let known = state.hosts.iter().find(|known| known.name == host);
    let pid = known.map(|known| known.process.pid).expect("there is an entrance to it");
    let network = NetworkNamespace::new(entrance.net_namespace()?);
    let here = |error: &(dyn std::error::Error + 'static)| {
        system(&format!("cannot enter the network of host {host}"), error)
    };
    unshare(CloneFlags::CLONE_NEWNS).map_err(|errno| here(&errno))?;
    // Mounts made here must not be visible elsewhere.
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|errno| here(&errno))?;
    let root = Path::new("/proc").join(pid.to_string()).join("root");
    for (name, needed) in NAME_FILES {
        // Every host has both files; skipping one would leave the machine's own names in effect.
        let text = fs::read_to_string(root.join("etc").join(name)).map_err(|error| here(&error))?;
        // A file of another mount namespace cannot be mounted in this one, so its text is copied.
        let copy = folder.path().join(format!("visitor-{name}"));
        fs::write(&copy, text).map_err(|error| here(&error))?;
        let over = Path::new("/etc").join(name);
        if needed || over.exists() {
            mount_bind(&copy, &over).map_err(|errno| here(&errno))?;
        }
    }
    network.enter().map_err(|errno| here(&errno))
}
