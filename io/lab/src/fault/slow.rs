//! [`Slowdown`]: a service that takes longer to answer.
//!
//! Its processes stand still for the delay, run as long, stand still again, and so on: an answer comes up to the delay
//! later, on connections that are open as on new ones, whatever the service is. It also has half of its time only.

use std::io::{Error, Result};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use wavetank_plan::Nanos;

use super::processes::{frozen, resume};

/// A thread of the host's process that stops processes and lets them go.
#[derive(Debug)]
pub(super) struct Slowdown {
    pub(super) delay: Nanos,
    /// Dropped to end it.
    stop: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Slowdown {
    /// Slows the processes `roots`, and whatever they start, by up to `delay`.
    pub(super) fn begin(roots: Vec<u32>, delay: Nanos) -> Result<Self> {
        // What cannot be stopped once is told now.
        resume(&frozen(&roots)?);
        let length = Duration::from_nanos(delay.0.unsigned_abs());
        let (stop, stopped) = sync_channel::<()>(1);
        let waits = move || stopped.recv_timeout(length) == Err(RecvTimeoutError::Timeout);
        let thread = Builder::new().name("slow".to_owned()).spawn(move || {
            let mut going = true;
            while going {
                // Processes that have ended are no longer there to be slowed; a next one may be.
                let held = frozen(&roots).unwrap_or_default();
                going = waits();
                resume(&held);
                going = going && waits();
            }
        });
        Ok(Self { delay, stop, thread: thread.map_err(Error::other)? })
    }

    /// They run on.
    pub(super) fn end(self) {
        drop(self.stop);
        // It cannot panic: it only sends signals.
        let _ = self.thread.join();
    }
}
