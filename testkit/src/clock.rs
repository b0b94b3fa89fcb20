//! The only place of the testkit that reads a clock or waits for one.
//!
//! All times are `CLOCK_MONOTONIC`, so stamps of different threads and processes of one host are
//! comparable.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// An instant: nanoseconds on `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub u64);

impl Stamp {
    /// Reads the clock.
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::Monotonic);
        Self(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }

    /// This much later.
    #[must_use]
    pub const fn plus(self, span: Duration) -> Self {
        Self(self.0 + span.as_nanos() as u64)
    }

    /// Returns the time since `earlier`; zero if this stamp is not later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The time left until this instant; `None` once it has passed.
    pub fn left(self) -> Option<Duration> {
        let left = self.since(Self::now());
        (!left.is_zero()).then_some(left)
    }
}

/// Lets this thread's timers fire when they are due: the kernel's default slack of 50 µs would be
/// added to every scripted delay.
pub fn steady_thread() {
    // A kernel that refuses leaves the default slack, which is within every test's tolerance.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// Waits for `until`, or until another thread sets `stop` and unparks this one. True if stopped.
pub fn park_until(until: Stamp, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Acquire) {
            return true;
        }
        match until.left() {
            Some(left) => std::thread::park_timeout(left),
            None => return false,
        }
    }
}

/// Tries `event` every few milliseconds until it gives something or `limit` has passed. Only for
/// events that cannot be waited for directly, such as a foreign process beginning to listen.
pub fn poll_until<T>(limit: Duration, mut event: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Stamp::now().plus(limit);
    loop {
        if let Some(found) = event() {
            return Some(found);
        }
        let left = deadline.left()?;
        std::thread::park_timeout(left.min(Duration::from_millis(3)));
    }
}
