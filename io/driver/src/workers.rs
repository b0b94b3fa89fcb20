//! [`spawn`]: worker threads, with the table of files they are to have.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use wavetank_plan::FileTables;

use crate::clone_vm::run_in_vm_clone;
use crate::file_tables::{close_all_but, unshare_files};
use crate::{Crash, Errno, NetworkNamespace, Waker};

/// A thread that has told how its start went, and how to wake it.
#[derive(Debug)]
pub struct Started<T> {
    /// Ends when its work does.
    pub handle: JoinHandle<()>,
    /// Of the driver it made.
    pub waker: Waker,
    /// What else it told.
    pub value: T,
}

/// Why a thread did not start.
#[derive(Debug)]
pub enum StartFault<E> {
    /// The kernel refused the thread, its table of files or its process.
    Refused(Errno),
    /// It ended before it had told anything.
    Crashed(Crash),
    /// It told this itself.
    Told(E),
}

/// How a start went; no waker where it was posted.
type StartResult<T, E> = Result<(Option<Waker>, T), StartFault<E>>;

/// By this a new thread tells how its start went; dropping it untold is a defect.
pub struct StartReporter<T, E> {
    told: SyncSender<StartResult<T, E>>,
    /// Where a waker goes from another table of files.
    post: Option<RawFd>,
}

impl<T, E> StartReporter<T, E> {
    /// The driver that `waker` wakes is there. Returns whether anybody cares.
    pub fn done(self, waker: Waker, value: T) -> bool {
        let told = match self.post {
            None => Ok((Some(waker), value)),
            Some(post) => {
                // SAFETY: the number was copied with the table, in which nobody else knows it.
                let post = unsafe { OwnedFd::from_raw_fd(post) };
                waker.send(&post).map(|()| (None, value)).map_err(StartFault::Refused)
            }
        };
        let fine = told.is_ok();
        self.told.send(told).is_ok() && fine
    }

    /// There is no driver.
    pub fn failed(self, error: E) {
        // Whoever started it and is gone does not miss it.
        let _ = self.told.send(Err(StartFault::Told(error)));
    }
}

/// Start a thread called `name` whose life is `life`, with the table of files it is to have; waits until it has
/// told how its start went. With a table of its own it sees none of the files of others but the standard streams,
/// and others none of its. `crashed` is called on the thread if its process does not come to the end of `life`.
pub fn spawn<T: Send + 'static, E: Send + 'static>(
    name: String,
    files: FileTables,
    life: impl FnOnce(StartReporter<T, E>) + Send + 'static,
    crashed: impl FnOnce(Crash) + Send + 'static,
) -> Result<Started<T>, StartFault<E>> {
    spawn_in(None, name, files, life, crashed)
}

/// The same in a network namespace, which the thread enters before it does anything else; without one it stays in that of
/// who starts it.
pub fn spawn_in<T: Send + 'static, E: Send + 'static>(
    network: Option<NetworkNamespace>,
    name: String,
    files: FileTables,
    life: impl FnOnce(StartReporter<T, E>) + Send + 'static,
    crashed: impl FnOnce(Crash) + Send + 'static,
) -> Result<Started<T>, StartFault<E>> {
    // Two: a crash is told beside what was told before it.
    let (told, hears) = sync_channel(2);
    let post = post(files).map_err(StartFault::Refused)?;
    let far = post.as_ref().map(|(_, far)| far.as_raw_fd());
    let thread = move || {
        // The namespace's file is closed here, in the table it is of: in a table of the thread's own its number would
        // soon be another file's.
        if let Some(Err(errno)) = network.map(|network| network.enter()) {
            let _ = told.send(Err(StartFault::Refused(errno)));
            return;
        }
        live(files, far, told, life, crashed);
    };
    let handle =
        Builder::new().name(name).spawn(thread).map_err(|error| StartFault::Refused(errno(&error)))?;
    let (waker, value) = hears.recv().expect("a thread reports how its start went")?;
    let waker = match (waker, post) {
        (Some(waker), _) => waker,
        (None, Some((near, _))) => Waker::receive(&near).map_err(StartFault::Refused)?,
        (None, None) => unreachable!("a waker was posted without a notification"),
    };
    Ok(Started { handle, waker, value })
}

/// What a thread does from its begin to its end: `life`, with the table of files it is to have. `far` goes with it into
/// a table of its own.
fn live<T, E>(
    files: FileTables,
    far: Option<RawFd>,
    told: SyncSender<StartResult<T, E>>,
    life: impl FnOnce(StartReporter<T, E>),
    crashed: impl FnOnce(Crash),
) {
    match files {
        FileTables::Shared => life(StartReporter { told, post: None }),
        FileTables::PerThread => {
            if let Err(errno) = unshare_files() {
                let _ = told.send(Err(StartFault::Refused(errno)));
                return;
            }
            close_all_but(far);
            life(StartReporter { told, post: far });
        }
        FileTables::PerProcess => {
            let start = StartReporter { told: told.clone(), post: far };
            match run_in_vm_clone(far, || life(start)) {
                Ok(Ok(())) => {}
                Ok(Err(crash)) => {
                    // If it had told already, nobody listens to this any more.
                    let _ = told.try_send(Err(StartFault::Crashed(crash)));
                    crashed(crash);
                }
                Err(errno) => drop(told.send(Err(StartFault::Refused(errno)))),
            }
        }
    }
}

/// Both ends of a pair of sockets, where a descriptor must get from one table to another.
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
