//! [`enter_network`]: this process moves into a host's network and knows the names that the host knows, and stays who it is.
//!
//! Other than [`HostHandle::run`](crate::HostHandle::run) it keeps its PID namespace, its files and its `/proc`: it goes on
//! writing where it was started, and looks at all hosts of the lab from there.

use std::fs;
use std::path::Path;

use nix::sched::{CloneFlags, unshare};
use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
use wavetank_driver::NetworkNamespace;
use wavetank_plan::UserError;

use crate::response::system;
use crate::{HostHandle, LabFolder};

/// What names are looked up by, and whether the machine must have it: without `/etc/hosts` there is nothing that the
/// host's could lie over, and its names would be unknown; without `/etc/resolv.conf` nobody outside is asked anyway.
const NAME_FILES: [(&str, bool); 2] = [("hosts", true), ("resolv.conf", false)];

/// The calling thread, and all that it starts later, is in the network of `host` from now on, in a mount namespace of its
/// own in which the host's names lie over this machine's. To be called before there are other threads.
///
/// # Errors
/// A host that is not there, names that cannot be had from it, or rights that are missing.
pub fn enter_network(folder: &LabFolder, host: &str) -> Result<(), UserError> {
    let entrance = HostHandle::to(folder, host)?;
    let state = folder.state()?;
    let known = state.hosts.iter().find(|known| known.name == host);
    let pid = known.map(|known| known.process.pid).expect("there is an entrance to it");
    let network = NetworkNamespace::new(entrance.net_namespace()?);
    let here =
        |error: &(dyn std::error::Error + 'static)| system(&format!("host {host} cannot be visited"), error);
    unshare(CloneFlags::CLONE_NEWNS).map_err(|errno| here(&errno))?;
    // What is mounted here is nobody else's to see.
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|errno| here(&errno))?;
    let root = Path::new("/proc").join(pid.to_string()).join("root");
    for (name, needed) in NAME_FILES {
        // Every host has both; one that was skipped would leave the machine's own names in its place.
        let text = fs::read_to_string(root.join("etc").join(name)).map_err(|error| here(&error))?;
        // A file of another mount namespace cannot be mounted in this one, so its words are copied.
        let copy = folder.path().join(format!("visitor-{name}"));
        fs::write(&copy, text).map_err(|error| here(&error))?;
        let over = Path::new("/etc").join(name);
        if needed || over.exists() {
            mount_bind(&copy, &over).map_err(|errno| here(&errno))?;
        }
    }
    network.enter().map_err(|errno| here(&errno))
}
