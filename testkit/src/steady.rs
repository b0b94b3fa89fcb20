//! [`steady`]: timing is asked for again where the machine, not the program, was late.
//!
//! Two cores that others use as well pause either side for tens of milliseconds now and then. Such noise
//! can only make a true measurement look wrong, never a wrong one right: whoever is off by design is
//! off in every attempt. Counts need no such excuse: they panic at once, in every attempt.

use std::fmt;

/// Attempts at a timing before it is called wrong.
const ATTEMPTS: u32 = 4;

/// A time that is not what the closed form says.
#[derive(Debug)]
pub struct OffTime(pub String);

impl fmt::Display for OffTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Runs `attempt` until its times are right; panics with the last one's complaint if they never are.
#[track_caller]
#[expect(clippy::print_stderr, reason = "an attempt that failed must be seen, or noise hides a trend")]
pub fn steady(attempt: impl Fn() -> Result<(), OffTime>) {
    for left in (0..ATTEMPTS).rev() {
        match attempt() {
            Ok(()) => return,
            Err(off) if left == 0 => panic!("off in {ATTEMPTS} attempts: {off}"),
            Err(off) => eprintln!("off, {left} attempts left: {}", off.0.lines().next().unwrap_or_default()),
        }
    }
}

/// Off unless `holds`.
pub fn expect_time(holds: bool, complaint: impl FnOnce() -> String) -> Result<(), OffTime> {
    if holds { Ok(()) } else { Err(OffTime(complaint())) }
}
