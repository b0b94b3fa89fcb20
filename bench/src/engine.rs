//! [`Engine`]: the Wavetank driver that runs the sockets.

use clap::ValueEnum;

use rustix::process::{Resource, getrlimit};

/// Files of one table if the host sets no limit: the kernel's default of `fs.nr_open`.
const FILES_MAX: u64 = 1 << 20;
/// Files of a thread's table that are not connections. The number exceeds Wavetank's own estimate
/// by a dozen.
const FILES_RESERVE: u64 = 48;
/// The kernel spreads a server's connections over its threads at random. `serve` therefore reserves
/// one more file for every 20 connections.
const SPREAD: u64 = 20;

/// A driver of Wavetank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    Uring,
    Epoll,
}

impl Engine {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Uring => "uring",
            Self::Epoll => "epoll",
        }
    }

    /// Returns how many threads hold `connections` at either end. On epoll each thread has its own
    /// table of files.
    pub(crate) fn threads_for(self, connections: usize) -> usize {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(FILES_MAX);
        match self {
            Self::Uring => 1,
            Self::Epoll => threads_with(files, connections),
        }
    }
}

fn threads_with(files: u64, connections: usize) -> usize {
    let connections = connections as u64;
    if connections + connections / SPREAD + 4 * FILES_RESERVE <= files {
        return 1;
    }
    let with_room = connections + connections / SPREAD;
    usize::try_from(with_room.div_ceil(files.saturating_sub(FILES_RESERVE).max(1))).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::threads_with;

    #[test]
    fn threads_bring_the_files_that_connections_need() {
        let check = |files, connections, threads| {
            assert_eq!(threads_with(files, connections), threads, "{connections} with {files} files");
        };
        check(20_000, 15_000, 1);
        check(20_000, 100_000, 6);
        check(20_000, 201_000, 11);
        check(1 << 20, 201_000, 1);
    }
}
