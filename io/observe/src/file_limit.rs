//! The limit on open files.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{parse, read};

/// The kernel's own bound where the hard limit names none (Linux, default of `fs.nr_open`).
const NR_OPEN_DEFAULT: u64 = 1_048_576;

/// Raises this process's soft limit of open files to its hard one; returns what may be open now. Children inherit
/// it. Fails only where the kernel refuses, which it does not for an unprivileged raise up to the hard limit.
pub fn raise_file_limit() -> io::Result<u64> {
    let now = getrlimit(Resource::Nofile);
    let wanted = files_max();
    if now.current.is_some_and(|current| current < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: now.maximum })?;
    }
    Ok(wanted)
}

/// The hard limit of this process.
pub(crate) fn files_max() -> u64 {
    getrlimit(Resource::Nofile).maximum.unwrap_or_else(|| {
        read::text("/proc/sys/fs/nr_open").and_then(|text| parse::number(&text)).unwrap_or(NR_OPEN_DEFAULT)
    })
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
