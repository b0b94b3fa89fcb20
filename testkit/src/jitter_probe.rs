//! [`JitterProbe`]: measures how late this machine wakes sleeping threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::clock::{Stamp, park_until, steady_thread};
use crate::foreign_load::CpuTimes;

/// Interval at which a probe thread asks to be woken.
const PERIOD: Duration = Duration::from_millis(2);

/// The share of the machine's CPU time that other programs may use on a quiet machine.
const FOREIGN_SHARE_MAX: f64 = 0.15;

/// Sleeping threads that note how late they were woken, one pinned to each CPU like load threads.
/// They share only the machine with the measured program, so their delays are caused by the
/// machine.
#[derive(Debug)]
pub struct JitterProbe {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Vec<Duration>>>,
    before: Option<CpuTimes>,
}

/// Wake-up delays seen by the probe threads, on the worst CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lateness {
    /// The wake-up that nine in ten did not exceed.
    pub p90: Duration,
    /// The wake-up that 99 in 100 did not exceed.
    pub p99: Duration,
    /// The latest wake-up.
    pub max: Duration,
    /// The share of the machine's CPU time that other programs used.
    pub foreign_share: f64,
}

impl JitterProbe {
    /// Starts watching.
    pub fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let allowed = sched_getaffinity(None).expect("a thread may ask where it runs");
        let cpus = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu));
        let watch = |cpu| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || watch(cpu, &stop))
        };
        let threads = cpus.map(watch).collect();
        Self { stop, threads, before: CpuTimes::now() }
    }

    /// Ends watching.
    pub fn end(self) -> Lateness {
        self.stop.store(true, Ordering::Release);
        let foreign_share = self.before.zip(CpuTimes::now());
        let foreign_share = foreign_share.map_or(0.0, |(before, now)| now.foreign_share_since(before));
        let mut worst = Lateness { foreign_share, ..Lateness::default() };
        for thread in self.threads {
            thread.thread().unpark();
            let seen = Lateness::of(thread.join().expect("a probe thread only sleeps"));
            worst.p90 = worst.p90.max(seen.p90);
            worst.p99 = worst.p99.max(seen.p99);
            worst.max = worst.max.max(seen.max);
        }
        worst
    }
}

/// Sleeps on `cpu` until stopped; how late each wake-up was.
fn watch(cpu: usize, stop: &AtomicBool) -> Vec<Duration> {
    steady_thread();
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).expect("a thread may stay on a CPU it may use");
    let mut late = Vec::new();
    let mut due = Stamp::now().plus(PERIOD);
    while !park_until(due, stop) {
        let now = Stamp::now();
        late.push(now.since(due));
        due = now.plus(PERIOD);
    }
    late
}

impl Lateness {
    fn of(mut late: Vec<Duration>) -> Self {
        late.push(Duration::ZERO);
        late.sort_unstable();
        let at = |percent: usize| late[(late.len() - 1) * percent / 100];
        Self { p90: at(90), p99: at(99), max: at(100), foreign_share: 0.0 }
    }

    /// Whether timings of this period say more about the machine than about the measured program.
    /// An idle machine of two virtual cores wakes 99 in 100 within 0.1 to 0.3 ms. A response waits
    /// for two wake-ups, the target's and the load's, and both sleep deeper than a probe thread. A
    /// p95 that is judged to a millisecond therefore needs 99 in 100 within less than one
    /// millisecond. A busy machine wakes probe threads, which sleep briefly, earlier than others.
    pub fn is_noisy(self) -> bool {
        let us = Duration::from_micros;
        self.p90 > us(300)
            || self.p99 > us(1_000)
            || self.max > us(20_000)
            || self.foreign_share > FOREIGN_SHARE_MAX
    }
}
