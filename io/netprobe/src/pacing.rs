//! Waiting, and sending datagrams at a rate.

use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wavetank_driver::Clock;
use wavetank_units::Nanos;

/// Waits until something can be read from `socket`, at most until `until`.
pub(crate) fn wait_readable(socket: impl AsFd, clock: Clock, until: Nanos) -> bool {
    let left = until.since(clock.now());
    let time = Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as _ };
    let mut polled = [PollFd::new(&socket, PollFlags::IN)];
    poll(&mut polled, Some(&time)).is_ok_and(|ready| ready > 0)
}

/// Waits until `until` on a socket that nothing is expected from.
pub(crate) fn wait_until(socket: impl AsFd, clock: Clock, until: Nanos) {
    let left = until.since(clock.now());
    let time = Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as _ };
    // Only errors of the socket end the wait early. The caller's next call returns them.
    let mut polled = [PollFd::new(&socket, PollFlags::empty())];
    let _ = poll(&mut polled, Some(&time));
}

/// Runs `send` for each packet of a rate until `end`. Late packets are sent without delay, but at
/// most [`BURST_MAX`] of them: what is missed beyond that is not made up for.
pub(crate) fn send_paced(
    socket: impl AsFd,
    clock: Clock,
    (interval, end): (Nanos, Nanos),
    mut send: impl FnMut(u64, Nanos) -> bool,
) -> u64 {
    let mut due = clock.now();
    let mut number = 0;
    loop {
        let now = clock.now();
        if now >= end {
            return number;
        }
        if due > now {
            wait_until(&socket, clock, due.min(end));
            continue;
        }
        if !send(number, now) {
            return number;
        }
        number += 1;
        due = Nanos(due.0.max(now.0 - interval.0 * BURST_MAX) + interval.0);
    }
}

/// Most packets that are sent together because the sender did not run.
const BURST_MAX: i64 = 64;
