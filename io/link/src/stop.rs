//! [`Stop`] and [`Interruptible`]: threads that wait for a stream end when they have to.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

/// A request to end, for threads that wait for a handle or for time to pass.
#[derive(Debug)]
pub struct Stop {
    /// The writing end of the pipe, until the end is requested.
    open: Mutex<Option<OwnedFd>>,
    changed: Condvar,
    /// Ready to read as soon as the writing end is closed.
    handle: OwnedFd,
}

impl Stop {
    /// Creates one that requests nothing.
    ///
    /// # Errors
    /// If the system has no more files.
    pub fn new() -> Result<Self> {
        let (handle, open) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self { open: Mutex::new(Some(open)), changed: Condvar::new(), handle })
    }

    /// Requests the end.
    pub fn stop(&self) {
        drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.changed.notify_all();
    }

    /// Whether the end is requested.
    pub fn is_stopped(&self) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Waits at most this long. Returns whether the end is requested.
    pub fn wait(&self, wait: Duration) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(open, wait, |open| open.is_some());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_none()
    }

    /// Waits until `handle` is ready for `flags`. Returns false if the end is requested.
    ///
    /// # Errors
    /// If the system cannot wait.
    pub fn wait_for(&self, handle: BorrowedFd<'_>, flags: PollFlags) -> Result<bool> {
        let mut handles =
            [PollFd::from_borrowed_fd(handle, flags), PollFd::from_borrowed_fd(self.handle(), PollFlags::IN)];
        match poll(&mut handles, None) {
            Ok(_) | Err(Errno::INTR) => Ok(!self.is_stopped()),
            Err(error) => Err(error.into()),
        }
    }

    /// Becomes ready to read when the end is requested.
    pub fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// A stream with reads and writes that fail as soon as a [`Stop`] requests the end.
#[derive(Debug)]
pub(crate) struct Interruptible<T> {
    stream: T,
    stop: Arc<Stop>,
}

impl<T: AsFd> Interruptible<T> {
    /// The stream does not block from now on.
    pub(crate) fn new(stream: T, stop: Arc<Stop>) -> Result<Self> {
        rustix::io::ioctl_fionbio(&stream, true)?;
        Ok(Self { stream, stop })
    }

    fn until_ready<R>(
        &mut self,
        flags: PollFlags,
        mut attempt: impl FnMut(&mut T) -> Result<R>,
    ) -> Result<R> {
        loop {
            if self.stop.is_stopped() {
                return Err(Error::other("the end was requested"));
            }
            match attempt(&mut self.stream) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.stop.wait_for(self.stream.as_fd(), flags)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

impl<T: AsFd + Read> Read for Interruptible<T> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        self.until_ready(PollFlags::IN, |stream| stream.read(into))
    }
}

impl<T: AsFd + Write> Write for Interruptible<T> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.until_ready(PollFlags::OUT, |stream| stream.write(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        self.until_ready(PollFlags::OUT, Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_stop_ends_reads_and_writes_that_wait() {
        let (left, _right) = UnixStream::pair().expect("a pair of sockets");
        let stop = Arc::new(Stop::new().expect("a pipe"));
        let open = |stream: UnixStream| Interruptible::new(stream, Arc::clone(&stop)).expect("a stream");
        let mut reader = open(left.try_clone().expect("a second handle"));
        let mut writer = open(left);
        let reads = std::thread::spawn(move || reader.read(&mut [0]).is_err());
        let writes = std::thread::spawn(move || writer.write_all(&vec![0; 64 << 20]).is_err());
        assert!(!stop.wait(Duration::ZERO));
        stop.stop();
        assert!(reads.join().expect("the thread ended") && writes.join().expect("the thread ended"));
        assert!(stop.wait(Duration::from_mins(5)) && stop.is_stopped());
    }
}
