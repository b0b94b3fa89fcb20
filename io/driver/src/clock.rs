//! [`Clock`]: the only code in the project that reads time: of the run, of the wall clock, or of a
//! thread.

use std::sync::OnceLock;
use std::time::Instant;

use wavetank_units::Nanos;

/// The kernel's clock that every [`Clock`] reads. Kernel timers must be set on the same clock.
pub(crate) const TIME_LINE: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// Monotonic time as an offset from a zero that all threads of a run share.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// `CLOCK_MONOTONIC` at the clock's zero, in nanoseconds.
    zero: i64,
}

impl Clock {
    /// Returns a clock with its zero at the present instant.
    pub fn starting_now() -> Self {
        Self { zero: monotonic() }
    }

    /// Returns the same clock with its zero moved to `at`, an instant of this clock.
    #[must_use]
    pub const fn with_zero_at(self, at: Nanos) -> Self {
        Self { zero: self.zero + at.0 }
    }

    /// Converts `at` to nanoseconds of the kernel's monotonic clock.
    pub const fn monotonic(self, at: Nanos) -> i64 {
        self.zero.saturating_add(at.0)
    }

    /// Returns the present instant, also as that of a library with its own type for it.
    #[expect(clippy::disallowed_methods, reason = "this is the file that reads the clock")]
    pub fn now_with_instant(self) -> (Nanos, Instant) {
        (self.now(), Instant::now())
    }

    /// Returns the present instant.
    #[inline]
    pub fn now(self) -> Nanos {
        Nanos(monotonic() - self.zero)
    }
}

#[inline]
fn monotonic() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec to write to; CLOCK_MONOTONIC always exists, so the call
    // cannot fail.
    unsafe { libc::clock_gettime(TIME_LINE, &raw mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Returns the length of a tick of the kernel's timer: 1, 3.3, 4 or 10 ms.
pub(crate) fn tick() -> Nanos {
    static TICK: OnceLock<Nanos> = OnceLock::new();
    *TICK.get_or_init(|| {
        let mut tick = libc::timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        // SAFETY: `tick` is a valid timespec to write to. On a failure it keeps the longest value.
        unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut tick) };
        Nanos(tick.tv_nsec)
    })
}

/// Wall time, read once per run: everything else is an offset from it. The built-in server also
/// reads it, to date the counts that it reports.
#[derive(Clone, Copy, Debug)]
pub struct WallClock;

impl WallClock {
    /// Returns nanoseconds since 1970-01-01 UTC.
    pub fn unix_ns() -> i64 {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: as above; CLOCK_REALTIME always exists.
        unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
        now.tv_sec * 1_000_000_000 + now.tv_nsec
    }
}

/// Returns the CPU time that this thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `used` is a valid timespec to write to; the clock exists for every thread.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut used) };
    (used.tv_sec * 1_000_000_000 + used.tv_nsec).unsigned_abs()
}
