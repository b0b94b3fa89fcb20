//! Separate tables of files: how a thread gets one, and how unneeded files in it are closed.

use std::ops::RangeInclusive;

use crate::Errno;

/// The standard streams, which every table keeps.
const STREAMS: i32 = 3;

/// Gives this thread a separate table of files: a copy, which later changes elsewhere do not
/// affect.
pub(crate) fn unshare_files() -> Result<(), Errno> {
    // SAFETY: no pointers are passed. The owners of descriptors on this thread own the copies with
    // the same number.
    Errno::check(unsafe { libc::unshare(libc::CLONE_FILES) }).map(drop)
}

/// Closes every file of this thread's table except the standard streams and `keep`. Otherwise the
/// copied table would hold open connections of other threads, and their peers would wait for the
/// end.
///
/// Only for a table that was just copied, by a thread that owns none of the copies.
pub(crate) fn close_all_but(keep: Option<i32>) {
    let (below, above) = match keep.filter(|&keep| keep >= STREAMS) {
        Some(keep) => (STREAMS..=keep - 1, Some(keep + 1..=i32::MAX)),
        None => (STREAMS..=i32::MAX, None),
    };
    for range in [Some(below), above].into_iter().flatten().filter(|range| !range.is_empty()) {
        if close_range(&range).is_err() {
            close_each(&range);
        }
    }
}

fn close_range(range: &RangeInclusive<i32>) -> Result<(), Errno> {
    // SAFETY: only numbers are passed; the caller of `close_all_but` guarantees that these
    // descriptors have no owner.
    let result = unsafe { libc::syscall(libc::SYS_close_range, *range.start(), *range.end(), 0) };
    Errno::check(result as i32).map(drop)
}

/// The fallback before Linux 5.9, or under a filter that does not know the call.
fn close_each(range: &RangeInclusive<i32>) {
    let Ok(list) = std::fs::read_dir("/proc/thread-self/fd") else { return };
    let numbers = list.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // The numbers are collected first: the directory being read is one of them, and closed by then.
    let numbers: Vec<i32> = numbers.filter(|number| range.contains(number)).collect();
    for number in numbers {
        // SAFETY: as above; closing a number twice is an error without consequence.
        unsafe { libc::close(number) };
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::thread;

    use super::*;

    /// Returns the numbers open in this thread's table, except the one used for the query.
    fn open_files() -> Vec<i32> {
        let list = std::fs::read_dir("/proc/thread-self/fd").expect("/proc is mounted");
        let numbers = list.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let mut numbers: Vec<i32> = numbers.collect();
        numbers.retain(|&number| {
            // SAFETY: this only queries flags; for a closed number it returns an error.
            unsafe { libc::fcntl(number, libc::F_GETFD) >= 0 }
        });
        numbers.sort_unstable();
        numbers
    }

    /// Calls `close` in a separate table. Checks which files stay open there, and that all stay
    /// open here.
    fn check(close: fn(Option<i32>), keep: bool) {
        let files = [(); 5].map(|()| File::open("/dev/null").expect("it is always there"));
        let numbers = files.each_ref().map(AsRawFd::as_raw_fd);
        let kept = keep.then_some(numbers[2]);
        let look = thread::spawn(move || {
            unshare_files().expect("this host lets threads have their own files");
            close(kept);
            open_files()
        });
        let left = look.join().expect("it only looks");
        let beyond: Vec<_> = left.into_iter().filter(|&number| number >= STREAMS).collect();
        assert_eq!(beyond, kept.into_iter().collect::<Vec<_>>());
        for number in numbers {
            assert!(open_files().contains(&number), "{number} was closed for others too");
        }
    }

    fn by_hand(keep: Option<i32>) {
        close_each(&(STREAMS..=keep.map_or(i32::MAX, |keep| keep - 1)));
        if let Some(keep) = keep {
            close_each(&(keep + 1..=i32::MAX));
        }
    }

    #[test]
    fn only_what_is_wanted_stays_open() {
        if thread::spawn(unshare_files).join().expect("it only asks").is_err() {
            return;
        }
        for close in [close_all_but as fn(Option<i32>), by_hand] {
            check(close, true);
            check(close, false);
        }
    }
}
