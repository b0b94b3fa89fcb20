//! [`in_network_of`]: runs code in the network namespace of another process, in a thread that does
//! nothing else.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Returns the result of `work` in the network of process `pid`; `None` also if the network cannot
/// be entered. Sockets that `work` creates stay in that network, no matter which thread uses them.
pub(crate) fn in_network_of<T: Send>(pid: u32, work: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    let link = format!("/proc/{pid}/ns/net");
    if number("/proc/thread-self/ns/net") == Some(number(&link)?) {
        return work();
    }
    in_network_fd(File::open(link).ok()?, work)
}

/// Runs `work` in the network that `link` was opened as. An open link keeps naming that network
/// even when its processes end.
pub(crate) fn in_network_fd<T: Send>(
    link: impl AsFd + Send,
    work: impl FnOnce() -> Option<T> + Send,
) -> Option<T> {
    // A separate thread enters the network, so that no thread has to return.
    thread::scope(|scope| {
        let visit = move || {
            move_into_link_name_space(link.as_fd(), Some(LinkNameSpaceType::Network)).ok()?;
            work()
        };
        thread::Builder::new().name("visitor".to_owned()).spawn_scoped(scope, visit).ok()?.join().ok()?
    })
}

/// Returns device and inode number of a namespace, by a link to it.
pub(crate) fn number(link: &str) -> Option<(u64, u64)> {
    fs::metadata(link).ok().map(|known| (known.dev(), known.ino()))
}
