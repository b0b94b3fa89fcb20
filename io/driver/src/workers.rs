//! [`spawn`]: starts worker threads, each with a shared or a separate table of files.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use wavetank_plan::FileTables;

use crate::clone_vm::run_in_vm_clone;
use crate::file_tables::{close_all_but, unshare_files};
use crate::{Crash, Errno, NetworkNamespace, Waker};

/// A thread that has reported a successful start, with the waker of its driver.
#[derive(Debug)]
pub struct Started<T> {
    /// Ends when its work does.
    pub handle: JoinHandle<()>,
    /// The waker of the driver that the thread made.
    pub waker: Waker,
    /// The value that it reported.
    pub value: T,
}

/// Why a thread did not start.
#[derive(Debug)]
pub enum StartFault<E> {
    /// The kernel refused the thread, its table of files or its process.
    Refused(Errno),
    /// It ended before it had reported anything.
    Crashed(Crash),
    /// It reported this error itself.
    Reported(E),
}

/// The result of a start; the waker is missing if it was sent through `post`.
type StartResult<T, E> = Result<(Option<Waker>, T), StartFault<E>>;

/// A new thread reports the result of its start with this. Dropping it without a report is a
/// defect.
pub struct StartReporter<T, E> {
    reported: SyncSender<StartResult<T, E>>,
    /// The socket that a waker goes through from another table of files.
    post: Option<RawFd>,
}

impl<T, E> StartReporter<T, E> {
    /// Reports that the driver with this `waker` is ready. Returns whether the report was received.
    pub fn done(self, waker: Waker, value: T) -> bool {
        let reported = match self.post {
            None => Ok((Some(waker), value)),
            Some(post) => {
                // SAFETY: the descriptor was copied with the table and has no other owner there.
                let post = unsafe { OwnedFd::from_raw_fd(post) };
                waker.send(&post).map(|()| (None, value)).map_err(StartFault::Refused)
            }
        };
        let fine = reported.is_ok();
        self.reported.send(reported).is_ok() && fine
    }

    /// Reports that there is no driver.
    pub fn failed(self, error: E) {
        // If the starting thread is gone, the report is not needed.
        let _ = self.reported.send(Err(StartFault::Reported(error)));
    }
}

/// Starts a thread called `name` that runs `life`, with the table of files that `files` selects.
/// Waits until it has reported the result of its start. With a separate table, the thread sees no
/// files of other threads except the standard streams, and they see none of its files. `crashed` is
/// called on the thread if its process ends before `life` does.
pub fn spawn<T: Send + 'static, E: Send + 'static>(
    name: String,
    files: FileTables,
    life: impl FnOnce(StartReporter<T, E>) + Send + 'static,
    crashed: impl FnOnce(Crash) + Send + 'static,
) -> Result<Started<T>, StartFault<E>> {
    spawn_in(None, name, files, life, crashed)
}

/// As [`spawn`], in a network namespace. The thread enters it before it does anything else. With
/// `None` it stays in the namespace of the calling thread.
pub fn spawn_in<T: Send + 'static, E: Send + 'static>(
    network: Option<NetworkNamespace>,
    name: String,
    files: FileTables,
    life: impl FnOnce(StartReporter<T, E>) + Send + 'static,
    crashed: impl FnOnce(Crash) + Send + 'static,
) -> Result<Started<T>, StartFault<E>> {
    // Room for two: a crash is reported in addition to an earlier report.
    let (reported, hears) = sync_channel(2);
    let post = post(files).map_err(StartFault::Refused)?;
    let far = post.as_ref().map(|(_, far)| far.as_raw_fd());
    let thread = move || {
        // The file of the namespace is closed here, in the table that it belongs to. In a separate
        // table its number would soon belong to another file.
        if let Some(Err(errno)) = network.map(|network| network.enter()) {
            let _ = reported.send(Err(StartFault::Refused(errno)));
            return;
        }
        live(files, far, reported, life, crashed);
    };
    let handle =
        Builder::new().name(name).spawn(thread).map_err(|error| StartFault::Refused(errno(&error)))?;
    let (waker, value) = hears.recv().expect("a thread reports the result of its start")?;
    let waker = match (waker, post) {
        (Some(waker), _) => waker,
        (None, Some((near, _))) => Waker::receive(&near).map_err(StartFault::Refused)?,
        (None, None) => unreachable!("a waker that is not in the report was posted"),
    };
    Ok(Started { handle, waker, value })
}

/// The whole life of a thread: runs `life` with the selected table of files. `far` goes with it
/// into a separate table.
fn live<T, E>(
    files: FileTables,
    far: Option<RawFd>,
    reported: SyncSender<StartResult<T, E>>,
    life: impl FnOnce(StartReporter<T, E>),
    crashed: impl FnOnce(Crash),
) {
    match files {
        FileTables::Shared => life(StartReporter { reported, post: None }),
        FileTables::PerThread => {
            if let Err(errno) = unshare_files() {
                let _ = reported.send(Err(StartFault::Refused(errno)));
                return;
            }
            close_all_but(far);
            life(StartReporter { reported, post: far });
        }
        FileTables::PerProcess => {
            let start = StartReporter { reported: reported.clone(), post: far };
            match run_in_vm_clone(far, || life(start)) {
                Ok(Ok(())) => {}
                Ok(Err(crash)) => {
                    // After an earlier report, this one is not received any more.
                    let _ = reported.try_send(Err(StartFault::Crashed(crash)));
                    crashed(crash);
                }
                Err(errno) => drop(reported.send(Err(StartFault::Refused(errno)))),
            }
        }
    }
}

/// Returns both ends of a socket pair, if a descriptor must be passed from one table to another.
fn post(files: FileTables) -> Result<Option<(OwnedFd, OwnedFd)>, Errno> {
    if files == FileTables::Shared {
        return Ok(None);
    }
    socketpair(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
        .map(Some)
        .map_err(|errno| Errno(errno.raw_os_error()))
}

fn errno(error: &io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EAGAIN))
}
