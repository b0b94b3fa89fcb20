//! Polling for conditions without a notification.

use rustix::event::poll;
use rustix::time::Timespec;
use wavetank_driver::Clock;
use wavetank_units::Nanos;

/// Polling interval.
const LOOK_EVERY_NS: i64 = 2_000_000;

/// Whether `condition` becomes true within that time. It is checked at least once.
pub(super) fn poll_until(limit: Nanos, mut condition: impl FnMut() -> bool) -> bool {
    let clock = Clock::starting_now();
    loop {
        if condition() {
            return true;
        }
        if clock.now() > limit {
            return false;
        }
        let pause = Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY_NS };
        // A signal only shortens the pause.
        let _ = poll(&mut [], Some(&pause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(limit: Nanos, true_at_look: u32, expected: bool) {
        let mut looks = 0;
        let came = poll_until(limit, || {
            looks += 1;
            looks == true_at_look
        });
        assert_eq!((came, looks >= 1), (expected, true), "{looks} looks");
    }

    #[test]
    fn it_looks_until_it_is_so_or_the_time_is_over() {
        check(Nanos::ZERO, 1, true);
        check(Nanos::from_secs(60), 3, true);
        check(Nanos::from_millis(5), u32::MAX, false);
    }
}
