//! The limit on open files.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wavetank_plan::NR_OPEN_DEFAULT;

use crate::{parse, read};

/// Raises this process's soft limit of open files to the hard limit and returns the new limit.
/// Children inherit it. Fails only if the kernel refuses, which it does not for an unprivileged
/// raise up to the hard limit.
pub fn raise_file_limit() -> io::Result<u64> {
    let now = getrlimit(Resource::Nofile);
    let wanted = files_max();
    if now.current.is_some_and(|current| current < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: now.maximum })?;
    }
    Ok(wanted)
}

/// Returns the hard limit of this process.
pub(crate) fn files_max() -> u64 {
    getrlimit(Resource::Nofile).maximum.unwrap_or_else(nr_open)
}

/// Returns the limit up to which an administrator can raise it.
pub(crate) fn nr_open() -> u64 {
    read::number("/proc/sys/fs/nr_open").unwrap_or(NR_OPEN_DEFAULT)
}

/// Returns how many more files this host may open before `fs.file-max`; `None` if this process is
/// exempt from it.
pub(crate) fn files_left() -> Option<u64> {
    if is_exempt() { None } else { parse::files_left(&read::text("/proc/sys/fs/file-nr")?) }
}

/// Whether this process is exempt from the host's limits.
pub(crate) fn is_exempt() -> bool {
    read::text("/proc/self/status").is_some_and(|text| parse::has_admin_rights(&text))
        // A user namespace's own administrator has no rights over the host.
        && read::text("/proc/self/uid_map").is_some_and(|text| parse::is_whole_id_map(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_reaches_the_hard_one() {
        let raised = raise_file_limit().expect("an unprivileged raise is allowed");
        let now = getrlimit(Resource::Nofile);
        assert_eq!(now.current, Some(raised));
        assert!(now.maximum.is_none_or(|maximum| maximum == raised));
        assert_eq!(raise_file_limit().expect("raising twice changes nothing"), raised);
    }
}
