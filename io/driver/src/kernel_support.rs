//! [`KernelSupport`]: kernel features that are usable on this host, found by trying, and reasons
//! for the others.

use std::thread;

use wavetank_plan::{FileTables, Unsupported};

use crate::clone_vm::run_in_vm_clone;
use crate::{Errno, Feature, Features, UringMissing, probe_uring};

/// The result of probing a host. For each missing feature it has the reason.
#[derive(Clone, Debug)]
pub struct KernelSupport {
    /// The usable features.
    pub features: Features,
    missing: Vec<(Feature, Unsupported)>,
}

impl Features {
    /// Tries every feature of `wanted` on this host, now. Features not in `wanted` count as masked.
    pub fn probe(wanted: Self) -> KernelSupport {
        let mut found = KernelSupport { features: wanted, missing: Vec::new() };
        for (feature, word) in Feature::ALL {
            let missing = if !wanted.has(feature) {
                Some(masked(word))
            } else if feature == Feature::BindOp && !found.features.has(Feature::Uring) {
                // This is a part of io\_uring: missing if that is missing, and not tried if it is
                // masked.
                found.missing(Feature::Uring).cloned()
            } else {
                try_out(feature).err()
            };
            if let Some(missing) = missing {
                found.features = found.features.without(feature);
                found.missing.push((feature, missing));
            }
        }
        found
    }
}

impl KernelSupport {
    /// Returns why `feature` cannot be used and what to do about it; `None` if it is usable.
    pub fn missing(&self, feature: Feature) -> Option<&Unsupported> {
        self.missing.iter().find(|(known, _)| *known == feature).map(|(_, missing)| missing)
    }

    /// Returns the best way to have more files than one table holds.
    pub fn best_file_tables(&self) -> FileTables {
        if self.features.has(Feature::Unshare) {
            FileTables::PerThread
        } else if self.features.has(Feature::OwnProcess) {
            FileTables::PerProcess
        } else {
            FileTables::Shared
        }
    }
}

fn masked(word: &str) -> Unsupported {
    Unsupported::new(format!("{word} is masked by WAVETANK_MASK"), "remove it from WAVETANK_MASK")
}

fn try_out(feature: Feature) -> Result<(), Unsupported> {
    match feature {
        Feature::Uring => probe_uring().map(drop).map_err(no_uring),
        Feature::BindOp => match probe_uring() {
            Ok(facts) if facts.bind_op => Ok(()),
            Ok(_) => Err(Unsupported::new(
                "IORING_OP_BIND is missing, a kernel older than 6.11",
                "no action is needed: a short-lived descriptor is bound instead",
            )),
            Err(missing) => Err(no_uring(missing)),
        },
        Feature::Unshare => unshare().map_err(|errno| refused("unshare(CLONE_FILES)", errno)),
        Feature::EpollPwait2 => epoll_pwait2().map_err(|errno| match errno.0 {
            libc::ENOSYS => Unsupported::new(
                "epoll_pwait2 ENOSYS, a kernel older than 5.11",
                "no action is needed: timerfd has the same effect",
            ),
            _ => refused("epoll_pwait2", errno),
        }),
        Feature::OwnProcess => own_process().map_err(|errno| refused("clone(CLONE_VM)", errno)),
    }
}

/// The sysctl with which an administrator forbids io\_uring (Linux,
/// Documentation/admin-guide/sysctl/kernel.rst).
const URING_DISABLED: &str = "/proc/sys/kernel/io_uring_disabled";

fn no_uring(missing: UringMissing) -> Unsupported {
    let sysctl = std::fs::read_to_string(URING_DISABLED).ok();
    uring_missing(missing, sysctl.as_deref().map_or("", str::trim))
}

/// `disabled` is the value of the sysctl: 1 forbids it to all but one group, 2 to every user.
fn uring_missing(UringMissing { errno, what }: UringMissing, disabled: &str) -> Unsupported {
    let name = errno.symbol().map_or_else(|| format!("errno {}", errno.0), str::to_owned);
    match errno.0 {
        libc::EPERM | libc::EACCES if matches!(disabled, "1" | "2") => Unsupported::new(
            format!("{what} {name}, kernel.io_uring_disabled={disabled}"),
            "sysctl kernel.io_uring_disabled=0",
        ),
        libc::EPERM | libc::EACCES => Unsupported::new(
            format!("{what} {name}, refused by a seccomp filter of this container or service"),
            "use --security-opt seccomp=unconfined, or a profile that allows io_uring",
        ),
        libc::ENOSYS => Unsupported::new(
            format!("{what} {name}, a kernel older than 5.1 or built without io_uring, or a seccomp filter"),
            "use a kernel of 6.1 or newer; in a container, use --security-opt seccomp=unconfined",
        ),
        libc::EINVAL => Unsupported::new(
            format!("{what} {name}, a kernel older than 6.1"),
            "use a kernel of 6.1 or newer",
        ),
        libc::ENOMEM => Unsupported::new(
            format!("{what} {name}, cannot lock memory for its rings"),
            "raise the limit of locked memory: `ulimit -l`",
        ),
        libc::EMFILE | libc::ENFILE => {
            Unsupported::new(format!("{what} {name}"), "raise the limit of open files: `ulimit -n`")
        }
        _ => Unsupported::new(format!("{what} {name}"), "use --engine epoll, which has the same effect"),
    }
}

/// Returns the reason for a refused call that every kernel in use has.
fn refused(call: &str, errno: Errno) -> Unsupported {
    let name = errno.symbol().map_or_else(|| format!("errno {}", errno.0), str::to_owned);
    match errno.0 {
        libc::EPERM | libc::EACCES | libc::ENOSYS => Unsupported::new(
            format!("{call} {name}, refused by a seccomp filter of this container or service"),
            "use --security-opt seccomp=unconfined, or a profile that allows it",
        ),
        _ => Unsupported::new(
            format!("{call} {name}"),
            "look at `ulimit -a` and at the limits of the container",
        ),
    }
}

/// Tries the call on a thread that ends right after it, so that nothing else is affected.
fn unshare() -> Result<(), Errno> {
    // A host may allow no further thread; then the feature is missing too.
    let thread =
        thread::Builder::new().spawn(crate::file_tables::unshare_files).map_err(|error| no_thread(&error))?;
    thread.join().unwrap_or(Err(Errno(libc::EAGAIN)))
}

fn no_thread(error: &std::io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EAGAIN))
}

fn own_process() -> Result<(), Errno> {
    let thread =
        thread::Builder::new().spawn(|| run_in_vm_clone(None, || {})).map_err(|error| no_thread(&error))?;
    let ended = thread.join().unwrap_or(Err(Errno(libc::EAGAIN)))?;
    ended.map_err(|_| Errno(libc::ECHILD))
}

/// Makes the call with an invalid descriptor: a kernel that has the call reports exactly that.
fn epoll_pwait2() -> Result<(), Errno> {
    let mut event = libc::epoll_event { events: 0, u64: 0 };
    let timeout = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `event` has room for the one event allowed, and `timeout` outlives the call. There is
    // no signal mask.
    let result = unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            -1,
            &raw mut event,
            1,
            &raw const timeout,
            std::ptr::null::<libc::sigset_t>(),
            0_usize,
        )
    };
    match Errno::check(result as i32) {
        Err(Errno(libc::EBADF)) | Ok(_) => Ok(()),
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_masked_says_so() {
        let found = Features::probe(Features::default());
        assert_eq!(found.features, Features::default());
        assert_eq!(found.best_file_tables(), FileTables::Shared);
        for (feature, word) in Feature::ALL {
            let missing = found.missing(feature).expect("all are masked");
            assert_eq!(missing.cause, format!("{word} is masked by WAVETANK_MASK"));
        }
    }

    #[test]
    fn what_can_be_used_has_no_cause_and_what_cannot_has_one() {
        let found = Features::probe(Features::all());
        for (feature, _) in Feature::ALL {
            let missing = found.missing(feature);
            assert_eq!(found.features.has(feature), missing.is_none(), "{feature:?}: {missing:?}");
            assert!(missing.is_none_or(|missing| !missing.cause.is_empty() && !missing.cure.is_empty()));
        }
        println!("{found:?}");
    }

    #[test]
    fn each_way_to_lack_io_uring_has_its_own_cause_and_cure() {
        let check = |errno, disabled, cause: &str, cure: &str| {
            let missing =
                uring_missing(UringMissing { errno: Errno(errno), what: "io_uring_setup" }, disabled);
            assert!(missing.cause.contains(cause), "{missing:?}");
            assert!(missing.cure.contains(cure), "{missing:?}");
            assert!(missing.cause.starts_with("io_uring_setup E"), "{missing:?}");
        };
        check(libc::EPERM, "2", "EPERM, kernel.io_uring_disabled=2", "sysctl kernel.io_uring_disabled=0");
        check(libc::EPERM, "1", "kernel.io_uring_disabled=1", "sysctl");
        check(libc::EPERM, "0", "seccomp", "--security-opt seccomp=");
        check(libc::EPERM, "", "seccomp", "--security-opt seccomp=");
        check(libc::ENOSYS, "", "ENOSYS, a kernel older than 5.1 or built without", "6.1");
        check(libc::EINVAL, "0", "older than 6.1", "6.1");
        check(libc::ENOMEM, "0", "lock memory", "ulimit -l");
        check(libc::EMFILE, "0", "EMFILE", "ulimit -n");
    }

    #[test]
    fn processes_take_over_where_threads_may_not() {
        let found = Features::probe(Features::all());
        if found.features.has(Feature::OwnProcess) {
            let without = KernelSupport { features: found.features.without(Feature::Unshare), ..found };
            assert_eq!(without.best_file_tables(), FileTables::PerProcess);
        }
    }
}
