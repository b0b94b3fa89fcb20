//! The bare sleep-and-spin loop: the best that this machine can do at a given period, with no other
//! work.

use std::num::NonZeroU64;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::thread::{
    ClockId, NanosleepRelativeResult, Timespec, clock_nanosleep_relative, set_current_timer_slack,
};
use serde_json::json;

use crate::lateness::{Lateness, micros};
use crate::stopwatch::Stopwatch;

/// How long before the deadline the loop changes from sleeping to spinning. A wake-up costs tens of
/// µs in a virtual machine.
const SPIN: Duration = Duration::from_micros(60);

/// Waits for `rate` deadlines per second for `seconds` and prints its lateness as JSON.
pub fn run(rate: u32, seconds: u32) -> Result<()> {
    set_current_timer_slack(NonZeroU64::new(1)).context("prctl(PR_SET_TIMERSLACK)")?;
    let period = Duration::from_secs(1) / rate.max(1);
    let count = rate.max(1) * seconds;
    let mut late = Vec::with_capacity(count as usize);
    let watch = Stopwatch::start();
    for index in 1..=count {
        late.push(meet(period * index, watch));
    }
    let late = Lateness::from_samples(late).context("no deadline was met")?;
    let [p50, p99, p99_9, max] = [late.p50, late.p99, late.p99_9, late.max].map(micros);
    println!("{}", json!({"count": count, "p50": p50, "p99": p99, "p99_9": p99_9, "max": max}));
    Ok(())
}

/// Sleeps until shortly before `deadline` and spins for the rest. Returns how late it was.
fn meet(deadline: Duration, watch: Stopwatch) -> Duration {
    loop {
        let now = watch.elapsed();
        let Some(left) = deadline.checked_sub(now).filter(|left| !left.is_zero()) else {
            return now.saturating_sub(deadline);
        };
        if let Some(rest) = left.checked_sub(SPIN) {
            let rest = Timespec { tv_sec: 0, tv_nsec: i64::from(rest.subsec_nanos()) };
            // A signal ends the sleep early; then the loop looks at the time again.
            let (NanosleepRelativeResult::Ok
            | NanosleepRelativeResult::Interrupted(_)
            | NanosleepRelativeResult::Err(_)) = clock_nanosleep_relative(ClockId::Monotonic, &rest);
        } else {
            std::hint::spin_loop();
        }
    }
}
