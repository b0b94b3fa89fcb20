//! [`now`]: the current time, for `--older-than`.

use wavetank_record::WallTime;

/// Returns the wall-clock time.
#[cfg(target_os = "linux")]
pub(super) fn now() -> WallTime {
    WallTime(wavetank_driver::WallClock::unix_ns().unsigned_abs())
}

/// Returns the wall-clock time on systems without the driver, which otherwise reads every clock.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "io/driver is Linux's; runs are pruned everywhere")]
pub(super) fn now() -> WallTime {
    use std::time::{SystemTime, UNIX_EPOCH};
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    WallTime(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
