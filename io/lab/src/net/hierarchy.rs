//! [`Hierarchy`]: one tree of control groups, of either version.

use std::path::{Path, PathBuf};

/// A mounted tree of control groups, with its controllers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    /// The mount point: the topmost group that this process can see.
    pub(crate) top: PathBuf,
    /// Its controllers.
    pub(crate) controllers: Vec<String>,
    /// Whether it is version 2, with all controllers in one tree.
    pub(crate) unified: bool,
}

impl Hierarchy {
    /// Returns all trees of this machine.
    pub(crate) fn all() -> Vec<Self> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mut found = mounted(&mounts);
        for one in found.iter_mut().filter(|one| one.unified) {
            let file = std::fs::read_to_string(one.top.join("cgroup.controllers")).unwrap_or_default();
            one.controllers = file.split_whitespace().map(str::to_owned).collect();
        }
        found
    }

    /// Whether the tree has that controller.
    pub(crate) fn has(&self, controller: &str) -> bool {
        self.controllers.iter().any(|own| own == controller)
    }

    /// Returns the groups just below the top of the tree that have names starting with `start`.
    pub(crate) fn groups(&self, start: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.top).into_iter().flatten().flatten();
        let named = |folder: &PathBuf| {
            let name = folder.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(start))
        };
        entries.map(|entry| entry.path()).filter(named).collect()
    }
}

/// Returns the trees in the text of `/proc/self/mountinfo` (proc(5)), each once. Controllers of
/// version 2 are listed in a file of the tree, not here.
fn mounted(mountinfo: &str) -> Vec<Hierarchy> {
    let mut found: Vec<Hierarchy> = Vec::new();
    for one in mountinfo.lines().filter_map(tree) {
        if !found.iter().any(|known| known.unified == one.unified && known.controllers == one.controllers) {
            found.push(one);
        }
    }
    found
}

fn tree(line: &str) -> Option<Hierarchy> {
    let (mount, system) = line.split_once(" - ")?;
    let top = mount.split(' ').nth(4)?;
    let mut system = system.split(' ');
    let (kind, options) = (system.next()?, system.nth(1)?);
    let unified = kind == "cgroup2";
    // Mount options are among the controllers (`rw,cpu,cpuacct`); those with a value name no
    // controller.
    let named = |option: &&str| !matches!(*option, "rw" | "ro") && !option.contains('=');
    let controllers = options.split(',').filter(named).map(str::to_owned);
    let controllers = if unified { Vec::new() } else { controllers.collect() };
    matches!(kind, "cgroup" | "cgroup2").then(|| Hierarchy {
        top: Path::new(&top.replace("\\040", " ")).to_owned(),
        controllers,
        unified,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mountinfo: &str, expected: &[(&str, &[&str], bool)]) {
        let found = mounted(mountinfo);
        let found: Vec<_> = found
            .iter()
            .map(|one| {
                let controllers: Vec<&str> = one.controllers.iter().map(String::as_str).collect();
                (one.top.to_str().expect("UTF-8"), controllers, one.unified)
            })
            .collect();
        let expected: Vec<_> = expected.iter().map(|(top, with, two)| (*top, with.to_vec(), *two)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn trees_of_both_versions_are_found_once_each() {
        check(
            "26 25 0:23 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
             27 26 0:24 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
             28 26 0:25 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n\
             29 26 0:24 / /other\\040place rw - cgroup cgroup rw,cpu,cpuacct\n\
             30 26 0:26 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
            &[
                ("/sys/fs/cgroup/cpu,cpuacct", &["cpu", "cpuacct"], false),
                ("/sys/fs/cgroup/systemd", &[], false),
                ("/sys/fs/cgroup/unified", &[], true),
            ],
        );
    }

    #[test]
    fn a_machine_without_them_has_none() {
        check("26 25 0:23 / / rw - ext4 /dev/vda rw\nno mount at all\n", &[]);
    }
}
