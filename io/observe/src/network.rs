//! [`in_network_of`]: something done in the network namespace of another process, by a thread that does nothing else.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// What `work` comes to in the network of the process `pid`; `None` also where there is no way in. Sockets that it makes
/// stay in that network, whoever uses them.
pub(crate) fn in_network_of<T: Send>(pid: u32, work: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    let link = format!("/proc/{pid}/ns/net");
    if number("/proc/thread-self/ns/net") == Some(number(&link)?) {
        return work();
    }
    in_network_fd(File::open(link).ok()?, work)
}

/// The same in the network that `link` was opened as, which is nobody else's whatever becomes of its processes.
pub(crate) fn in_network_fd<T: Send>(
    link: impl AsFd + Send,
    work: impl FnOnce() -> Option<T> + Send,
) -> Option<T> {
    // A thread of its own goes there, so that nobody has to come back.
    thread::scope(|scope| {
        let visit = move || {
            move_into_link_name_space(link.as_fd(), Some(LinkNameSpaceType::Network)).ok()?;
            work()
        };
        thread::Builder::new().name("visitor".to_owned()).spawn_scoped(scope, visit).ok()?.join().ok()?
    })
}

/// Device and number of a namespace, by a link to it.
pub(crate) fn number(link: &str) -> Option<(u64, u64)> {
    fs::metadata(link).ok().map(|known| (known.dev(), known.ino()))
}
