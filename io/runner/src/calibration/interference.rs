//! [`InterferenceProbe`]: what else this host did meanwhile.

use wavetank_driver::{Clock, WallClock};
use wavetank_observe::{CpuTimes, process_usage};
use wavetank_units::Nanos;
use wavetank_units::quantity::show_share;

/// Less of the time that others took is no disturbance.
const STEAL_MIN: f64 = 0.01;
/// Work of other programs that is always present, in CPUs.
const OTHERS_MIN: f64 = 0.1;

/// How things stood before the first measurement.
pub(super) struct InterferenceProbe {
    clock: Clock,
    /// Wall time, in nanoseconds since 1970.
    pub(super) began: u64,
    before: Option<CpuTimes>,
    own_s: f64,
}

/// What it came to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Interference {
    /// How long it all took.
    pub(super) took: Nanos,
    /// Share of the time that the machine's other guests took.
    pub(super) steal: f64,
    /// CPUs that other programs kept busy.
    pub(super) others: f64,
}

impl InterferenceProbe {
    /// From now on.
    pub(super) fn watch() -> Self {
        Self {
            clock: Clock::starting_now(),
            began: WallClock::unix_ns().unsigned_abs(),
            before: CpuTimes::read(),
            own_s: own_s(),
        }
    }

    /// Until now; `target_s` is the CPU time of our own target.
    pub(super) fn found(&self, target_s: f64) -> Interference {
        let took = self.clock.now();
        let now = self.before.as_ref().zip(CpuTimes::read());
        let ours = own_s() - self.own_s + target_s;
        let busy = now.as_ref().map_or(ours, |(before, now)| now.busy_s_since(before));
        Interference {
            took,
            steal: now.map_or(0.0, |(before, now)| now.steal_share_since(before)),
            others: ((busy - ours) / took.as_secs_f64().max(1e-9)).max(0.0),
        }
    }
}

impl Interference {
    /// What is worth knowing of it.
    pub(super) fn notes(&self) -> Vec<String> {
        let steal = (self.steal >= STEAL_MIN).then(|| {
            format!(
                "other guests of the machine took {} of the CPU time: this host may do more when they are idle",
                show_share(self.steal)
            )
        });
        let others = (self.others >= OTHERS_MIN).then(|| {
            format!(
                "other programs kept {:.1} CPUs busy meanwhile: stop them, and calibrate again",
                self.others
            )
        });
        steal.into_iter().chain(others).collect()
    }
}

fn own_s() -> f64 {
    let usage = process_usage();
    (usage.user + usage.system).as_secs_f64()
}
