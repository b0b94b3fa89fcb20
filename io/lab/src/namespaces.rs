//! Namespaces: those of a host made, those of another process entered. Each function changes the calling thread for
//! good, so they are called by processes that were started for it and have one thread.

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
use wavetank_plan::UserError;

use crate::LabFolder;
use crate::response::system;

/// What a host has for itself beside its PID namespace, which its process is born into.
const OWN: CloneFlags =
    CloneFlags::CLONE_NEWNET.union(CloneFlags::CLONE_NEWNS).union(CloneFlags::CLONE_NEWUTS);

/// Where control groups are mounted; a fresh `/sys` would hide them.
const GROUPS: &str = "/sys/fs/cgroup";

/// The calling process gets a network namespace of its own: nothing in it, the loopback interface down.
pub(crate) fn enter_new_netns() -> Result<(), UserError> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|errno| system("no network namespace can be made", &errno))
}

/// Runs `start` so that the process it starts is PID 1 of a new PID namespace. The calling process stays in its own.
pub(crate) fn in_new_pid_namespace<T>(start: impl FnOnce() -> T) -> Result<T, UserError> {
    let own = File::open("/proc/self/ns/pid")
        .map_err(|error| system("the PID namespace cannot be opened", &error))?;
    unshare(CloneFlags::CLONE_NEWPID).map_err(|errno| system("no PID namespace can be made", &errno))?;
    let started = start();
    // A namespace for children can be made once; to make the next one, the process's own takes its place again.
    setns(&own, CloneFlags::CLONE_NEWPID)
        .map_err(|errno| system("the PID namespace cannot be entered again", &errno))?;
    Ok(started)
}

/// The calling process, PID 1 of its namespace, becomes the host called `name`: network, mounts and name of its own,
/// `/proc` and `/sys` that show those, an empty `/run` with the lab's folder in it, if there is one. No mount goes out or
/// comes in.
pub(crate) fn enter_host(name: &str, lab: Option<&LabFolder>) -> Result<(), UserError> {
    unshare(OWN).map_err(|errno| system("no namespaces can be made", &errno))?;
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
    mounted().map_err(|errno| system(&format!("the mounts of {name} cannot be made"), &errno))
}

/// Mounts something over `place` by `cover`, and puts what was at `kept` below it back to where it was.
fn over(place: &str, kept: &Path, cover: impl FnOnce() -> rustix::io::Result<()>) -> rustix::io::Result<()> {
    let hidden = kept.starts_with(place) && kept.is_dir();
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let tree = hidden.then(|| open_tree(CWD, kept, flags)).transpose()?;
    cover()?;
    let Some(tree) = tree else { return Ok(()) };
    if !kept.is_dir() {
        // Only below a file system in memory, where a folder can be made; `/sys/fs/cgroup` the kernel makes.
        std::fs::create_dir_all(kept)
            .map_err(|error| rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO))?;
    }
    move_mount(&tree, "", CWD, kept, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// The calling process enters all namespaces of the host whose process `handle` is. Children only are in its PID
/// namespace; the process itself keeps its number.
pub(crate) fn enter(handle: impl AsFd) -> nix::Result<()> {
    setns(handle, OWN | CloneFlags::CLONE_NEWPID)
}

/// The network namespace of process `pid`, to be entered by threads.
pub(crate) fn network_of(pid: u32) -> std::io::Result<OwnedFd> {
    Ok(File::open(format!("/proc/{pid}/ns/net"))?.into())
}
