//! [`Signals`]: SIGINT and SIGTERM as a count.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::Errno;

static RECEIVED: AtomicU32 = AtomicU32::new(0);

/// Counts SIGINT and SIGTERM instead of ending the process.
#[derive(Clone, Copy, Debug)]
pub struct Signals;

extern "C" fn count(_signal: libc::c_int) {
    RECEIVED.fetch_add(1, Ordering::Relaxed);
}

impl Signals {
    /// Starts counting. Interrupted system calls return early (no `SA_RESTART`), so that a sleeping
    /// control loop checks the count immediately.
    pub fn listen() -> Result<Self, Errno> {
        for signal in [libc::SIGINT, libc::SIGTERM] {
            // SAFETY: all-zero is a valid sigaction; the handler only touches an atomic.
            let result = unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = count as *const () as libc::sighandler_t;
                libc::sigaction(signal, &raw const action, std::ptr::null_mut())
            };
            Errno::check(result)?;
        }
        Ok(Self)
    }

    /// Lets a write beyond the limit on file sizes (`ulimit -f`) fail like one on a full disk,
    /// instead of ending the process.
    pub fn ignore_file_size_limit() {
        // SAFETY: ignoring a signal runs no code. SIGXFSZ exists on all systems that build this.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    }

    /// Returns the number of signals received so far.
    pub fn received(self) -> u32 {
        RECEIVED.load(Ordering::Relaxed)
    }
}
