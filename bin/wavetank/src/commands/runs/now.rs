//! [`now`]: today, for `--older-than`.

use wavetank_record::Wall;

/// The wall time.
#[cfg(target_os = "linux")]
pub(super) fn now() -> Wall {
    Wall(wavetank_driver::WallClock::unix_ns().unsigned_abs())
}

/// The wall time, where the driver, which else reads every clock, is not built.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "io/driver is Linux's; runs are pruned everywhere")]
pub(super) fn now() -> Wall {
    use std::time::{SystemTime, UNIX_EPOCH};
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Wall(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
