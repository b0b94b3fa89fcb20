//! [`Witness`]: a bystander that tells how late this machine wakes up those who sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clock::{Stamp, park_until, steady_thread};

/// How far apart the witness asks to be woken.
const PERIOD: Duration = Duration::from_millis(2);

/// A thread that sleeps and notes how late it was woken. It shares nothing with what is measured but the
/// machine, so whatever delays it is the machine's doing.
#[derive(Debug)]
pub struct Witness {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Duration>>,
}

/// What a witness has seen.
#[derive(Clone, Copy, Debug)]
pub struct Lateness {
    /// The wake-up that nine in ten did not exceed.
    pub p90: Duration,
    /// The wake-up that 99 in 100 did not exceed.
    pub p99: Duration,
}

impl Witness {
    /// Starts watching.
    pub fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            steady_thread();
            let mut late = Vec::new();
            let mut due = Stamp::now().plus(PERIOD);
            while !park_until(due, &theirs) {
                let now = Stamp::now();
                late.push(now.since(due));
                due = now.plus(PERIOD);
            }
            late
        });
        Self { stop, thread }
    }

    /// Ends watching.
    pub fn end(self) -> Lateness {
        self.stop.store(true, Ordering::Release);
        self.thread.thread().unpark();
        let mut late = self.thread.join().expect("a witness only sleeps");
        late.push(Duration::ZERO);
        late.sort_unstable();
        let at = |percent: usize| late[(late.len() - 1) * percent / 100];
        Lateness { p90: at(90), p99: at(99) }
    }
}

impl Lateness {
    /// Whether timings taken meanwhile say more about the machine than about what was measured. An idle
    /// machine of two virtual cores wakes 99 in 100 within 0.1 to 0.3 ms.
    pub fn is_noisy(self) -> bool {
        self.p90 > Duration::from_micros(300) || self.p99 > Duration::from_millis(2)
    }
}
