//! [`Slowdown`]: a service that takes longer to answer.
//!
//! Its processes are stopped for the delay, run for the same time, are stopped again, and so on. An
//! answer comes up to the delay later, on open connections as on new ones, for any kind of service.
//! The service also has only half of its time.

use std::io::{Error, Result};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use wavetank_units::Nanos;

use super::processes::{frozen, resume};

/// A thread of the host's process that stops and resumes processes periodically.
#[derive(Debug)]
pub(super) struct Slowdown {
    pub(super) delay: Nanos,
    /// Dropping it ends the thread.
    stop: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Slowdown {
    /// Slows the processes `roots` and their descendants by up to `delay`.
    pub(super) fn begin(roots: Vec<u32>, delay: Nanos) -> Result<Self> {
        // Processes that cannot be stopped once are an error now.
        resume(&frozen(&roots)?);
        let length = Duration::from_nanos(delay.0.unsigned_abs());
        let (stop, stopped) = sync_channel::<()>(1);
        let waits = move || stopped.recv_timeout(length) == Err(RecvTimeoutError::Timeout);
        let thread = Builder::new().name("slow".to_owned()).spawn(move || {
            let mut going = true;
            while going {
                // This can fail because processes have ended; the next round tries again.
                let held = frozen(&roots).unwrap_or_default();
                going = waits();
                resume(&held);
                going = going && waits();
            }
        });
        Ok(Self { delay, stop, thread: thread.map_err(Error::other)? })
    }

    /// Resumes the processes.
    pub(super) fn end(self) {
        drop(self.stop);
        // It cannot panic: it only sends signals.
        let _ = self.thread.join();
    }
}
