//! Runs test programs in lanes: several programs at a time, each with several tests at a time.
//!
//! Cargo runs test programs one after the other. Most tests wait for clocks and other programs,
//! and many programs end with one slow test, so the CPUs are idle for most of the time. A second
//! lane uses that time.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Result;
use wavetank_bench::stopwatch::Stopwatch;

use super::program::{Ended, TestProgram};

/// A program that has ended.
pub(super) struct Finished {
    pub(super) program: TestProgram,
    pub(super) ended: Ended,
    pub(super) took: Duration,
}

/// Runs all of `programs` with `run`, `lanes` at a time, in their order. `report` is called with
/// each when it has ended, one at a time.
pub(super) fn run_all(
    programs: Vec<TestProgram>,
    lanes: usize,
    run: impl Fn(&TestProgram) -> Result<Ended> + Sync,
    report: impl FnMut(Finished) + Send,
) -> Result<()> {
    let waiting = Mutex::new(VecDeque::from(programs));
    let report = Mutex::new(report);
    let lane = || -> Result<()> {
        loop {
            let next = waiting.lock().expect("no lane panics with it").pop_front();
            let Some(program) = next else { return Ok(()) };
            let watch = Stopwatch::start();
            let ended = run(&program)?;
            let took = watch.elapsed();
            (report.lock().expect("no lane panics with it"))(Finished { program, ended, took });
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..lanes.max(1)).map(|_| scope.spawn(lane)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a lane reports errors"))
    })
}
