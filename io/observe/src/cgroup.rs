//! Limits of the cgroups that this process is in, of both versions.

use std::path::{Path, PathBuf};

use crate::parse::{self, Cgroup};
use crate::read;

/// The memory that a cgroup has left.
pub(crate) struct MemoryLeft {
    /// Bytes that are left.
    pub(crate) bytes: u64,
    /// The group's limit in bytes.
    pub(crate) limit: u64,
    /// The file with the limit.
    pub(crate) file: PathBuf,
}

/// Returns the least memory left in the memory cgroups of this process; `None` without a limit.
pub(crate) fn memory_left() -> Option<MemoryLeft> {
    let left = |(group, folder): (&Cgroup, &Path)| {
        let (limit_file, used_file) = group.memory_files();
        let file = folder.join(limit_file);
        let limit = parse::cgroup_bytes(&read::text(&file)?)?;
        let used = parse::cgroup_bytes(&read::text(folder.join(used_file))?)?;
        let stat = read::text(folder.join("memory.stat"));
        let reclaimable = stat.and_then(|text| parse::inactive_file_bytes(&text)).unwrap_or(0);
        Some(MemoryLeft { bytes: limit.saturating_sub(used.saturating_sub(reclaimable)), limit, file })
    };
    least("memory", left, |left| left.bytes)
}

/// Returns how many more threads and processes the cgroups of this process allow; `None` without a
/// limit.
pub(crate) fn threads_left() -> Option<u64> {
    let left = |(_, folder): (&Cgroup, &Path)| {
        let most = read::number(folder.join("pids.max"))?;
        Some(most.saturating_sub(read::number(folder.join("pids.current"))?))
    };
    least("pids", left, |left| *left)
}

/// Returns the smallest value over all cgroups with `controller` and their parents, up to the mount
/// point. Inside a container the path of the group may not exist below the mount. Its parents do in
/// that case.
fn least<T>(
    controller: &str,
    left: impl Fn((&Cgroup, &Path)) -> Option<T>,
    size: impl Fn(&T) -> u64,
) -> Option<T> {
    let (cgroups, mounts) = (read::text("/proc/self/cgroup")?, read::text("/proc/self/mountinfo")?);
    let mut found: Option<T> = None;
    for group in parse::cgroups_of(controller, &cgroups, &mounts) {
        let top = PathBuf::from(&group.mount);
        let start = top.join(group.path.trim_start_matches('/'));
        for folder in start.ancestors().take_while(|folder| folder.starts_with(&top)) {
            let own = left((&group, folder));
            if let Some(own) = own.filter(|own| found.as_ref().is_none_or(|least| size(own) < size(least))) {
                found = Some(own);
            }
        }
    }
    found
}
