//! [`Signals`]: SIGINT and SIGTERM as a count, and SIGXFSZ without effect.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::Errno;

static RECEIVED: AtomicU32 = AtomicU32::new(0);

/// Counts SIGINT and SIGTERM instead of ending the process.
#[derive(Clone, Copy, Debug)]
pub struct Signals;

extern "C" fn count(_signal: libc::c_int) {
    RECEIVED.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn pass_over(_signal: libc::c_int) {}

impl Signals {
    /// Keeps SIGXFSZ from ending the process: a write beyond the limit on file sizes fails instead,
    /// like one on a full disk. Programs that this process starts have the default again, which an
    /// ignored signal would not.
    pub fn survive_file_size_limit() {
        // SAFETY: all-zero is a valid sigaction; the handler does nothing.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = pass_over as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(libc::SIGXFSZ, &raw const action, std::ptr::null_mut());
        }
    }

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

    /// Returns the number of signals received so far.
    pub fn received(self) -> u32 {
        RECEIVED.load(Ordering::Relaxed)
    }
}
