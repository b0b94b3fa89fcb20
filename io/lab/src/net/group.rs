//! Control groups of a lab's hosts, for limits and for counting CPU and memory.
//!
//! They are just below the top of each tree, like those of container engines. Inside the group of
//! the `lab up` process they would keep that group from being removed. Version 2 also forbids
//! groups below one that has processes.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use wavetank_topology::{Host, Lab, Limits};
use wavetank_units::{Code, UserError};

use super::hierarchy::Hierarchy;
use crate::{LabTag, file_error};

/// The period for CPU shares: the kernel's default.
const CPU_PERIOD_US: u64 = 100_000;
/// The smallest quota that the kernel accepts.
const CPU_QUOTA_US_MIN: u64 = 1_000;

/// A value in a group's file.
struct Knob {
    controller: &'static str,
    file: &'static str,
    value: String,
    /// Whether the file may be absent. Kernels without swap accounting have no swap limit.
    optional: bool,
}

/// Creates the groups of `lab.hosts[host]`, with its limits. Groups without limits are only for
/// counting, so it is no error if the machine forbids them.
pub(super) fn make(lab: &Lab, host: usize, mark: &LabTag, file: &str) -> Result<(), UserError> {
    let host = &lab.hosts[host];
    for tree in Hierarchy::all() {
        let knobs = knobs(&host.limits, &tree);
        if knobs.is_empty() && !counts(&tree) {
            continue;
        }
        let folder = tree.top.join(name(mark, &host.name));
        let Err(error) = make_one(&tree, &folder, &knobs) else { continue };
        // An incomplete group could not be joined. Without the group there is still the affinity
        // that `confine` sets.
        let _ = fs::remove_dir(&folder);
        if knobs.iter().any(|knob| knob.controller != "cpuset") {
            return Err(refused(host, file, &folder, &error));
        }
    }
    Ok(())
}

/// Adds the calling process to the host's groups, if there are any.
pub(super) fn join(mark: &LabTag, host: &str) -> Result<(), UserError> {
    for folder in folders(mark, host) {
        // 0 means the writing process, whatever its number in its PID namespace.
        fs::write(folder.join("cgroup.procs"), "0").map_err(|error| {
            let message = format!("cannot join `{}`: {error}", folder.display());
            UserError::refused(
                Code::LabLimit,
                message,
                "control groups of this machine must be writable for root",
            )
        })?;
    }
    Ok(())
}

/// Removes all groups with the tag, and groups that services made in them.
pub(super) fn remove(mark: &LabTag) -> Result<(), UserError> {
    let start = name(mark, "");
    let mut failed = Vec::new();
    for folder in Hierarchy::all().iter().flat_map(|tree| tree.groups(&start)) {
        if let Err(error) = remove_tree(&folder) {
            let message = format!("cannot remove the control group `{}`: {error}", folder.display());
            failed.push(UserError::refused(
                Code::LabLimit,
                message,
                "`cat cgroup.procs` in that folder lists its processes",
            ));
        }
    }
    UserError::combine(failed).map_or(Ok(()), Err)
}

/// Checks whether the machine's groups can apply the limits of `host` in `file`.
pub(super) fn check(host: &Host, file: &str) -> Result<(), UserError> {
    let trees = Hierarchy::all();
    let limits = &host.limits;
    let wanted = [
        ("cpu", limits.cpu_share_milli.is_some(), "a share of the CPU"),
        ("memory", limits.memory_bytes.is_some(), "memory"),
    ];
    for (controller, wanted, what) in wanted {
        let tree = trees.iter().find(|tree| tree.has(controller));
        let usable = |tree: &Hierarchy| rustix::fs::access(&tree.top, rustix::fs::Access::WRITE_OK).is_ok();
        if wanted && !tree.is_some_and(usable) {
            let found = if tree.is_some() { "cannot be written" } else { "is not there" };
            let message =
                format!("{what} of `{}` cannot be limited: the controller `{controller}` {found}", host.name);
            let hint =
                "leave the limit out; in a container, the groups must be mounted writable (/sys/fs/cgroup)";
            return Err(file_error::with_place(
                file,
                limits.place,
                UserError::refused(Code::LabLimit, message, hint),
            ));
        }
    }
    Ok(())
}

/// Returns the existing groups of a host.
fn folders(mark: &LabTag, host: &str) -> Vec<PathBuf> {
    let name = name(mark, host);
    let all = Hierarchy::all().into_iter().map(|tree| tree.top.join(&name));
    all.filter(|folder| folder.is_dir()).collect()
}

fn name(mark: &LabTag, host: &str) -> String {
    format!("{mark}-{host}")
}

/// Whether a tree counts something worth a group. A group of the `cpu` controller does more than
/// count: it gets as much of a busy CPU as all processes outside of it together. Only hosts that
/// ask for a share get one.
fn counts(tree: &Hierarchy) -> bool {
    tree.unified || tree.has("cpuacct") || tree.has("memory")
}

fn make_one(tree: &Hierarchy, folder: &Path, knobs: &[Knob]) -> io::Result<()> {
    if tree.unified {
        for knob in knobs {
            enable(tree, knob.controller)?;
        }
    }
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    for knob in knobs {
        match fs::write(folder.join(knob.file), &knob.value) {
            Err(error) if !(knob.optional && error.kind() == ErrorKind::NotFound) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Enables `controller` for groups below the top, as version 2 requires. It stays enabled, because
/// other groups may have started to use it.
fn enable(tree: &Hierarchy, controller: &str) -> io::Result<()> {
    let file = tree.top.join("cgroup.subtree_control");
    let handed_down = fs::read_to_string(&file)?;
    if handed_down.split_whitespace().any(|one| one == controller) {
        return Ok(());
    }
    fs::write(&file, format!("+{controller}"))
}

/// Returns the values to write into a group of `tree` for `limits`, in this order.
fn knobs(limits: &Limits, tree: &Hierarchy) -> Vec<Knob> {
    let knob = |controller, file, value| Knob { controller, file, value, optional: false };
    let mut knobs = Vec::new();
    if let Some(share) = limits.cpu_share_milli {
        let quota = (share * CPU_PERIOD_US / 1000).max(CPU_QUOTA_US_MIN);
        if tree.unified {
            knobs.push(knob("cpu", "cpu.max", format!("{quota} {CPU_PERIOD_US}")));
        } else {
            knobs.push(knob("cpu", "cpu.cfs_period_us", CPU_PERIOD_US.to_string()));
            knobs.push(knob("cpu", "cpu.cfs_quota_us", quota.to_string()));
        }
    }
    if let Some(bytes) = limits.memory_bytes {
        // Without the second value a host would swap instead, which would make it extremely slow.
        let (file, swap, none) = if tree.unified {
            ("memory.max", "memory.swap.max", 0)
        } else {
            ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes)
        };
        knobs.push(knob("memory", file, bytes.to_string()));
        knobs.push(Knob { optional: true, ..knob("memory", swap, none.to_string()) });
    }
    let listed = |cpus: &Vec<u32>| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let cpus = limits.cpus.as_ref().map(listed);
    if !tree.unified && (cpus.is_some() || counts(tree)) {
        // A new group of version 1 has no CPUs and no memory nodes until they are written.
        let above = |file| fs::read_to_string(tree.top.join(file)).unwrap_or_default().trim().to_owned();
        knobs.push(knob("cpuset", "cpuset.mems", above("cpuset.mems")));
        knobs.push(knob("cpuset", "cpuset.cpus", cpus.unwrap_or_else(|| above("cpuset.cpus"))));
    } else if let Some(cpus) = cpus {
        knobs.push(knob("cpuset", "cpuset.cpus", cpus));
    }
    knobs.retain(|knob| tree.has(knob.controller));
    knobs
}

fn remove_tree(folder: &Path) -> io::Result<()> {
    let below = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        below => below?,
    };
    for entry in below {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        }
    }
    match fs::remove_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn refused(host: &Host, file: &str, folder: &Path, error: &io::Error) -> UserError {
    let message = format!("the limits of `{}` cannot be set in `{}`: {error}", host.name, folder.display());
    let hint = "control groups must be writable for root; in a container they are often not";
    file_error::with_place(file, host.limits.place, UserError::refused(Code::LabLimit, message, hint))
}
