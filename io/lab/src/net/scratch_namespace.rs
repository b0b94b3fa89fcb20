//! A temporary network namespace, for trying features of the kernel.

use nix::sched::{CloneFlags, unshare};
use wavetank_units::{Code, UserError};

/// Runs `work` in a separate thread with fresh network and mount namespaces. The network has only a
/// loopback interface, which is down. Only that thread moves, and everything it makes goes with it.
pub(crate) fn in_scratch_namespace<T: Send>(
    work: impl FnOnce() -> Result<T, UserError> + Send,
) -> Result<T, UserError> {
    let moved = || {
        unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS).map_err(|error| {
            let message = format!("this user cannot create namespaces: {}", error.desc());
            UserError::refused(
                Code::LabRoot,
                message,
                "run it as root; a container needs CAP_SYS_ADMIN and CAP_NET_ADMIN",
            )
        })?;
        work()
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(moved);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
