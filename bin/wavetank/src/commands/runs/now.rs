//! [`now`]: today, for `--older-than`.

use wavetank_record::WallTime;

/// The wall time.
#[cfg(target_os = "linux")]
pub(super) fn now() -> WallTime {
    WallTime(wavetank_driver::WallClock::unix_ns().unsigned_abs())
}

/// The wall time, where the driver, which else reads every clock, is not built.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "io/driver is Linux's; runs are pruned everywhere")]
pub(super) fn now() -> WallTime {
    use std::time::{SystemTime, UNIX_EPOCH};
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    WallTime(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
