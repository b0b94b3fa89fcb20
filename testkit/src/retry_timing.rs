//! [`retry_timing`]: repeats a timing test if the machine, not the program, was late.
//!
//! Two cores that are shared with other users occasionally pause either side for tens of
//! milliseconds. Such noise can only make a correct measurement look wrong, never a wrong one look
//! correct: a program that is wrong by design fails in every attempt. A [`JitterProbe`] shows
//! whether the machine was late. Counts have no such excuse: they panic immediately, in every
//! attempt.

use std::fmt;

use crate::jitter_probe::{JitterProbe, Lateness};
use crate::skip::skip;

/// Attempts that count: so often may a timing be off before it is called wrong.
const ATTEMPTS: u32 = 3;
/// Attempts that do not count because the machine was late, before the test is given up as skipped.
const NOISY_MAX: u32 = 5;

/// A time that is not what the closed form says.
#[derive(Debug)]
pub struct TimingMismatch(pub String);

impl fmt::Display for TimingMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Runs `attempt` until its times are right. Panics with the last complaint after three wrong
/// results on a quiet machine. Records a skip if the machine never is quiet.
#[track_caller]
pub fn retry_timing(attempt: impl Fn() -> Result<(), TimingMismatch>) {
    let _ = retry_timing_of(attempt);
}

/// As [`retry_timing`], for an attempt with a result. Returns `None` if the test was recorded as
/// skipped, and then nothing is left to check.
#[track_caller]
pub fn retry_timing_of<T>(attempt: impl Fn() -> Result<T, TimingMismatch>) -> Option<T> {
    judge(|| {
        let witness = JitterProbe::start();
        let result = attempt();
        (result, witness.end())
    })
}

/// Makes attempts until the times of one are right. Each attempt has the lateness of the machine
/// meanwhile.
#[track_caller]
#[expect(clippy::print_stderr, reason = "an attempt that failed must be seen, or noise hides a trend")]
fn judge<T>(mut attempt: impl FnMut() -> (Result<T, TimingMismatch>, Lateness)) -> Option<T> {
    let (mut off_times, mut noisy) = (0, 0);
    loop {
        let (result, lateness) = attempt();
        let off = match result {
            Ok(value) => return Some(value),
            Err(off) => off,
        };
        let first_line = off.0.lines().next().unwrap_or_default();
        eprintln!("off: {first_line} ({lateness:?})");
        if lateness.is_noisy() {
            noisy += 1;
        } else {
            off_times += 1;
        }
        assert!(off_times < ATTEMPTS, "off in {off_times} attempts on a quiet machine: {off}");
        if noisy == NOISY_MAX {
            let thread = std::thread::current();
            let reason = format!("this machine is too noisy for it ({lateness:?}); last: {first_line}");
            skip(thread.name().unwrap_or("a timing"), &reason);
            return None;
        }
    }
}

/// Returns a complaint unless `holds`.
pub fn expect_time(holds: bool, complaint: impl FnOnce() -> String) -> Result<(), TimingMismatch> {
    if holds { Ok(()) } else { Err(TimingMismatch(complaint())) }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::time::Duration;

    use super::*;

    /// Returns the number of attempts that were made. The one of this number is right.
    fn attempts(right: u32, lateness: Lateness) -> u32 {
        let mut tries = 0;
        let outcome = judge(|| {
            tries += 1;
            (expect_time(tries == right, || "noise".into()), lateness)
        });
        assert!(outcome.is_some());
        tries
    }

    #[test]
    fn a_steady_error_is_found_and_noise_is_not() {
        let noisy = Lateness { max: Duration::from_secs(1), ..Lateness::default() };
        assert_eq!((attempts(3, Lateness::default()), attempts(5, noisy)), (3, 5));
        assert!(catch_unwind(|| attempts(4, Lateness::default())).is_err(), "a quiet machine");
    }
}
