//! Creates and enters namespaces. Each function changes the calling thread permanently, so it is
//! called by single-threaded processes that were started for this purpose.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use nix::sched::{CloneFlags, setns, unshare};
use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount,
    open_tree,
};
use wavetank_units::UserError;

use crate::LabFolder;
use crate::response::system;

/// The namespaces of a host in addition to its PID namespace, which its process is started in.
const OWN: CloneFlags =
    CloneFlags::CLONE_NEWNET.union(CloneFlags::CLONE_NEWNS).union(CloneFlags::CLONE_NEWUTS);

/// Where control groups are mounted; a fresh `/sys` would hide them.
const GROUPS: &str = "/sys/fs/cgroup";

/// Moves the calling process into a new, empty network namespace; the loopback interface is down.
pub(crate) fn enter_new_netns() -> Result<(), UserError> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|errno| system("cannot create a network namespace", &errno))
}

/// Runs `start` so that the process it starts is PID 1 of a new PID namespace. The calling process
/// stays in its own.
pub(crate) fn in_new_pid_namespace<T>(start: impl FnOnce() -> T) -> Result<T, UserError> {
    let own =
        File::open("/proc/self/ns/pid").map_err(|error| system("cannot open the PID namespace", &error))?;
    unshare(CloneFlags::CLONE_NEWPID).map_err(|errno| system("cannot create a PID namespace", &errno))?;
    let started = start();
    // A namespace for children can be created once. Before the next one, the process's own is set
    // again.
    setns(&own, CloneFlags::CLONE_NEWPID)
        .map_err(|errno| system("cannot return to the PID namespace", &errno))?;
    Ok(started)
}

/// Turns the calling process, PID 1 of its namespace, into the host called `name`. It gets its own
/// network, mounts and host name, matching `/proc` and `/sys`, and an empty `/run` with the lab's
/// folder in it, if there is one. Mounts do not propagate in either direction.
pub(crate) fn enter_host(name: &str, lab: Option<&LabFolder>) -> Result<(), UserError> {
    unshare(OWN).map_err(|errno| system("cannot create namespaces", &errno))?;
    let mounted = || -> rustix::io::Result<()> {
        mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
        let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("proc", "/proc", "proc", plain, None::<&CStr>)?;
        over("/sys", Path::new(GROUPS), || mount("sysfs", "/sys", "sysfs", plain, None::<&CStr>))?;
        let data = c"mode=755,size=64m";
        let kept = lab.map_or(Path::new(""), LabFolder::path);
        over("/run", kept, || mount("run", "/run", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, data))?;
        rustix::system::sethostname(name.as_bytes())
    };
    mounted().map_err(|errno| system(&format!("cannot set up the mounts of {name}"), &errno))
}

/// Mounts something over `place` by `cover`, and moves what was at `kept` below it back to its
/// path.
fn over(place: &str, kept: &Path, cover: impl FnOnce() -> rustix::io::Result<()>) -> rustix::io::Result<()> {
    let hidden = kept.starts_with(place) && kept.is_dir();
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let tree = hidden.then(|| open_tree(CWD, kept, flags)).transpose()?;
    cover()?;
    let Some(tree) = tree else { return Ok(()) };
    if !kept.is_dir() {
        // The folder can only be created on an in-memory file system; the kernel provides
        // `/sys/fs/cgroup`.
        std::fs::create_dir_all(kept)
            .map_err(|error| rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO))?;
    }
    move_mount(&tree, "", CWD, kept, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// Moves the calling process into all namespaces of the host with process `handle`. Only its
/// children are in the PID namespace; the process itself keeps its number.
pub(crate) fn enter(handle: impl AsFd) -> nix::Result<()> {
    setns(handle, OWN | CloneFlags::CLONE_NEWPID)
}

/// The network namespace of process `pid`, to be entered by threads.
pub(crate) fn network_of(pid: u32) -> std::io::Result<OwnedFd> {
    Ok(File::open(format!("/proc/{pid}/ns/net"))?.into())
}
