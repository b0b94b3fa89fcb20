//! [`read_snapshot`]: the files of this host that judging it needs.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wavetank_driver::NetworkNamespace;
use wavetank_tuning::{SNAPSHOT_LISTENERS, SNAPSHOT_SERVERS, Snapshot, snapshot_paths};

use crate::write::{below, read_text};

/// Deepest folder below `/proc/sys`.
const DEPTH_MAX: usize = 8;

/// Reads the files of this host below `root`. Files that cannot be read are left out.
pub fn read_snapshot(root: &Path) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for path in snapshot_paths() {
        for (path, file) in expand(root, &path) {
            // Files of the network are those of the process's first thread unless named this way.
            let file = match path.strip_prefix("/proc/net/") {
                Some(name) if root == Path::new("/") => Path::new("/proc/thread-self/net").join(name),
                _ => file,
            };
            if let Ok(Some(text)) = read_text(&file) {
                snapshot.insert(path, text);
            }
        }
    }
    add_servers(root, &mut snapshot);
    if root == Path::new("/") {
        add_listeners(&mut snapshot);
    }
    snapshot
}

/// Adds the listeners in the network of this thread, if the host has the program that lists them.
fn add_listeners(snapshot: &mut Snapshot) {
    let mut words = SNAPSHOT_LISTENERS.split(' ');
    let Some(program) = words.next() else { return };
    let output = Command::new(program).args(words).stdin(Stdio::null()).output();
    if let Some(output) = output.ok().filter(|output| output.status.success()) {
        snapshot.insert(SNAPSHOT_LISTENERS, String::from_utf8_lossy(&output.stdout));
    }
}

/// Reads the settings in the network of process `pid`, and the limits of the process. What a
/// network does not have of its own is that of this host.
///
/// # Errors
/// A process that is gone, or a network that this user may not enter.
pub fn read_snapshot_of_process(pid: u32) -> std::io::Result<Snapshot> {
    let network = NetworkNamespace::new(File::open(format!("/proc/{pid}/ns/net"))?);
    // A network namespace belongs to a thread, which ends with it.
    let reader = std::thread::spawn(move || {
        network.enter().map_err(|errno| std::io::Error::from_raw_os_error(errno.0))?;
        Ok::<_, std::io::Error>(read_snapshot(Path::new("/")))
    });
    let mut snapshot = reader.join().map_err(|_| std::io::Error::other("the reading thread failed"))??;
    for name in ["limits", "status", "cgroup", "mountinfo"] {
        if let Some(text) = read_text(Path::new(&format!("/proc/{pid}/{name}")))? {
            snapshot.insert(format!("/proc/self/{name}"), text);
        }
    }
    Ok(snapshot.without("/sys/class/net/"))
}

/// Returns the keys of all kernel settings below `root`, with dots.
pub fn kernel_keys(root: &Path) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    add_keys(&below(root, "/proc/sys"), "", 0, &mut keys);
    keys
}

fn add_keys(folder: &Path, start: &str, depth: usize, keys: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().replace('.', "/");
        let key = if start.is_empty() { name } else { format!("{start}.{name}") };
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if depth < DEPTH_MAX {
                add_keys(&entry.path(), &key, depth + 1, keys);
            }
        } else {
            keys.insert(key);
        }
    }
}

/// Returns the files that a pattern names: each with its path as in the pattern, and where it is.
fn expand(root: &Path, pattern: &str) -> Vec<(String, PathBuf)> {
    if !pattern.contains('*') {
        return vec![(pattern.to_owned(), below(root, pattern))];
    }
    let mut found = vec![(String::new(), root.to_owned())];
    for part in pattern.trim_start_matches('/').split('/') {
        let mut next = Vec::new();
        for (path, folder) in found {
            let Some((start, end)) = part.split_once('*') else {
                next.push((format!("{path}/{part}"), folder.join(part)));
                continue;
            };
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.len() >= part.len() - 1 && name.starts_with(start) && name.ends_with(end) {
                    next.push((format!("{path}/{name}"), entry.path()));
                }
            }
        }
        next.sort();
        found = next;
    }
    found
}

/// Adds the limits of server processes in the network of this thread.
fn add_servers(root: &Path, snapshot: &mut Snapshot) {
    let network = |process: &Path| fs::read_link(process.join("ns/net")).ok();
    let own = network(&below(root, "/proc/thread-self"));
    for entry in fs::read_dir(below(root, "/proc")).into_iter().flatten().flatten() {
        let pid = entry.file_name().to_string_lossy().into_owned();
        if !pid.bytes().all(|digit| digit.is_ascii_digit()) {
            continue;
        }
        let Ok(Some(name)) = read_text(&entry.path().join("comm")) else { continue };
        if !SNAPSHOT_SERVERS.contains(&name.trim()) || network(&entry.path()) != own {
            continue;
        }
        if let Ok(Some(limits)) = read_text(&entry.path().join("limits")) {
            snapshot.insert(format!("/proc/{pid}/comm"), name);
            snapshot.insert(format!("/proc/{pid}/limits"), limits);
        }
    }
}
