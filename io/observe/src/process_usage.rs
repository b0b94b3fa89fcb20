//! [`ProcessUsage`]: the resource usage of this process, from the kernel.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use crate::{parse, read};

/// The usage of this process since its start, all threads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// CPU time in user code.
    pub user: Duration,
    /// CPU time in the kernel on behalf of this process.
    pub system: Duration,
    /// Peak resident memory of this program.
    pub peak_rss_bytes: u64,
}

/// Reads the usage now (`getrusage`, `/proc/self/status`). Call it before and after and subtract,
/// because the process start is included. Worker processes are included once they have ended.
/// Memory covers this process only.
pub fn process_usage() -> ProcessUsage {
    let own = getrusage(UsageWho::RUSAGE_SELF).expect("getrusage of oneself has no error");
    let ended = getrusage(UsageWho::RUSAGE_CHILDREN).expect("getrusage of one's children has no error");
    ProcessUsage {
        user: duration(own.user_time()) + duration(ended.user_time()),
        system: duration(own.system_time()) + duration(ended.system_time()),
        // The rusage of a process survives exec, so its peak may be that of a large parent process.
        // `/proc` reports the peak of this program only. The rusage counts in KiB.
        peak_rss_bytes: peak_resident_bytes()
            .unwrap_or_else(|| u64::try_from(own.max_rss()).unwrap_or(0).saturating_mul(1_024)),
    }
}

fn peak_resident_bytes() -> Option<u64> {
    parse::peak_resident_bytes(&read::text("/proc/self/status")?)
}

/// Returns the memory that this process has written and that is resident now; 0 if the kernel does
/// not report it. The other resident pages belong to the program file; their number depends on
/// which code has run.
pub fn written_bytes() -> u64 {
    read::text("/proc/self/status").and_then(|text| parse::written_bytes(&text)).unwrap_or(0)
}

fn duration(time: TimeVal) -> Duration {
    let seconds = u64::try_from(time.tv_sec()).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec()).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_and_memory_show() {
        let before = process_usage();
        let written = written_bytes();
        let block = vec![1_u8; 64 << 20];
        assert!(written_bytes() >= written + (32 << 20), "{written} then {}", written_bytes());
        let mut after = process_usage();
        let mut sum = 0_u64;
        // The loop is bounded by work, not by a clock. About 100 passes of 64 MiB take well over a
        // tick on any machine.
        for _ in 0..100 {
            sum += block.iter().step_by(64).map(|&byte| u64::from(byte)).sum::<u64>();
            after = process_usage();
            if after.user + after.system > before.user + before.system + Duration::from_millis(5) {
                break;
            }
        }
        assert!(sum >= (64 << 20) / 64);
        assert!(after.user + after.system > before.user + before.system, "{before:?} {after:?}");
        assert!(after.peak_rss_bytes >= 64 << 20, "{after:?}");
    }
}
