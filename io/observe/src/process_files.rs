//! [`fullest_files`]: the process of a host that is nearest to its limit on open files.

use crate::process_tree::descendants;
use crate::read;

/// With more files than this, counting them one by one takes too long.
const LISTED_MAX: u64 = 4_096;

/// Returns how many files the process below `pid` has open that is nearest to its limit, and that
/// limit. The first process itself is not counted.
pub(crate) fn fullest_files(pid: u32) -> Option<(u64, u64)> {
    let all = descendants(pid).filter(|one| *one != pid).filter_map(|one| {
        let limit = limit(&read::text(format!("/proc/{one}/limits"))?)?;
        Some((open(one, limit)?, limit))
    });
    all.max_by(|(open, limit), (most, of)| (open.saturating_mul(*of)).cmp(&most.saturating_mul(*limit)))
}

/// Since Linux 6.2 the folder's size is the number of files. Before, it is 0, and they are listed.
fn open(pid: u32, limit: u64) -> Option<u64> {
    let folder = format!("/proc/{pid}/fd");
    let size = std::fs::metadata(&folder).ok()?.len();
    if size > 0 || limit > LISTED_MAX {
        return Some(size);
    }
    Some(std::fs::read_dir(folder).ok()?.count() as u64)
}

/// Returns the soft limit of a line `Max open files  1024  4096  files`.
fn limit(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_counts() {
        let text = "Limit  Soft  Hard  Units\nMax open files            1024                 4096                 files\n";
        assert_eq!(limit(text), Some(1_024));
        assert_eq!(limit("Max open files            unlimited            unlimited            files"), None);
    }

    #[test]
    fn files_of_a_process_below_are_counted() {
        let me = std::process::id();
        assert!(open(me, LISTED_MAX).is_some_and(|open| open >= 3), "this process has files");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("every host can sleep");
        let found = fullest_files(me);
        child.kill().expect("it is ours");
        child.wait().expect("it was killed");
        assert!(found.is_some_and(|(open, limit)| open >= 3 && limit >= open), "{found:?}");
    }
}
