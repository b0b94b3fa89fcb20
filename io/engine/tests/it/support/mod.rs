//! Runs a plan on load threads, from its first connection to its last interval.

mod plain;

use std::sync::Arc;
use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_engine::{Collector, Command, LoadConfig, LoadThreads, Message};
use wavetank_journey::data::Table;
use wavetank_measure::Interval;
use wavetank_pace::Partition;
use wavetank_plan::Plan;
use wavetank_units::Nanos;

pub(crate) use plain::{engines, plain_plan};

/// Instants for all threads are this far ahead.
const AHEAD: Nanos = Nanos::from_millis(20);

/// Returns every interval of a run.
pub(crate) fn run(plan: Plan) -> Vec<Interval> {
    run_early(plan, Vec::new(), None).0
}

/// The same, with rows and the logged lines. If a command is given, it is sent at the start.
pub(crate) fn run_early(
    plan: Plan,
    tables: Vec<Table>,
    early: Option<Command>,
) -> (Vec<Interval>, Vec<String>) {
    let finishes = matches!(early, Some(Command::Finish(_)));
    let mut early = early;
    let plan = Arc::new(plan);
    let clock = Clock::starting_now();
    let mut means = LoadConfig::plain(&plan).expect("a plan that can be compiled");
    means.journeys.tables = tables.into();
    let threads = LoadThreads::prepare(&plan, Partition::WHOLE, clock, &means);
    let threads = threads.expect("two threads");
    let mut collector = Collector::new(threads.len() as u16);
    let (mut ready, mut drained, mut zero) = (0, 0, Nanos::ZERO);
    let (mut intervals, mut logged) = (Vec::new(), Vec::new());
    while !collector.is_over() {
        match threads.message(Duration::from_mins(1)).expect("nothing came from the threads for a minute") {
            Message::Ready(..) => {
                ready += 1;
                if ready == threads.len() {
                    zero = clock.now().after(AHEAD);
                    threads.broadcast(Command::Start(zero));
                    if let Some(command) = early.take() {
                        threads.broadcast(command);
                    }
                }
            }
            Message::Sealed(sealed) => {
                assert_eq!(sealed.accounting, None);
                collector.sealed(*sealed);
            }
            Message::Drained(..) => {
                drained += 1;
                if drained == threads.len() && !finishes {
                    threads.broadcast(Command::Finish(clock.now().after(AHEAD) - zero));
                }
            }
            Message::EndRun(_) => threads.broadcast(Command::Drain(clock.now().after(AHEAD) - zero)),
            Message::Finished(thread) => collector.thread_ended(thread),
            Message::Failed(thread, why) => panic!("thread {thread}: {why}"),
        }
        while let Some(merged) = collector.poll() {
            intervals.push(merged.interval);
            logged.extend(merged.logs.0.into_iter().map(|line| line.text));
        }
    }
    threads.join();
    (intervals, logged)
}
