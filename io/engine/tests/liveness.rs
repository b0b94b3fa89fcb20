//! Tests held connections that the target ends while they are idle: the loss is noticed and
//! counted, and they are reopened.

#[path = "it/support/crowd.rs"]
mod crowd;
#[path = "it/support/plain.rs"]
mod plain;

use std::sync::Arc;
use std::time::Duration;

use crowd::Crowd;
use plain::{engines, plain_plan};
use wavetank_driver::Clock;
use wavetank_engine::{Collector, Command, LoadConfig, LoadThreads, Message};
use wavetank_measure::{ConnCounts, Interval};
use wavetank_pace::Partition;
use wavetank_plan::{Action, Close, EngineChoice, Load, Phase, Plan, PopulationCurve, RequestPlan, Think};
use wavetank_units::{Nanos, Rate};

const fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

/// Returns a plan that opens `count` connections within `opening` and holds them for three seconds
/// more. Each first sends a request for `path`, if any, and then thinks for longer than that.
fn plan(crowd: &Crowd, engine: EngineChoice, count: u64, opening: Nanos, path: Option<&str>) -> Plan {
    let mut plan = Plan { engine, drain: ms(200), ..plain_plan(crowd.address) };
    let scenario = &mut plan.scenarios[0];
    if let Some(path) = path {
        let step = &mut scenario.steps[0];
        step.request = RequestPlan { path: path.into(), ..step.request.clone() };
        scenario.journey.push(Action::Think(Think::Fixed(Nanos::from_secs(60))));
    } else {
        (scenario.steps, scenario.journey) = (Vec::new(), Vec::new());
    }
    let base = plan.phases.remove(0);
    let ramp = PopulationCurve::ramp(0, count, opening).expect("a ramp");
    let keep = PopulationCurve::constant(count, Some(ms(5_000) - opening));
    for (start, levels) in [(Nanos::ZERO, ramp), (opening, keep)] {
        let length = Some(levels.length());
        let load = Load::Hold { connections: levels, sessions_each: None };
        let (connections, open_before) = (count, false);
        plan.phases.push(Phase { load, start, length, connections, open_before, ..base.clone() });
    }
    plan
}

/// Returns the intervals of a run. `meanwhile` is called after every second.
fn run(plan: Plan, mut meanwhile: impl FnMut(i64)) -> Vec<Interval> {
    let plan = Arc::new(plan);
    let clock = Clock::starting_now();
    let means = LoadConfig::plain(&plan).expect("a plan that can be compiled");
    let threads = LoadThreads::prepare(&plan, Partition::WHOLE, clock, &means).expect("threads");
    let mut collector = Collector::new(threads.len() as u16);
    let (mut ready, mut drained, mut zero) = (0, 0, Nanos::ZERO);
    let mut intervals = Vec::new();
    while !collector.is_over() {
        match threads.message(Duration::from_mins(1)).expect("nothing came from the threads for a minute") {
            Message::Ready(..) => {
                ready += 1;
                if ready == threads.len() {
                    zero = clock.now().after(ms(20));
                    threads.broadcast(Command::Start(zero));
                }
            }
            Message::Sealed(sealed) => {
                assert_eq!(sealed.accounting, None);
                collector.sealed(*sealed);
            }
            Message::Drained(..) => {
                drained += 1;
                if drained == threads.len() {
                    threads.broadcast(Command::Finish(clock.now().after(ms(20)) - zero));
                }
            }
            Message::Finished(thread) => collector.thread_ended(thread),
            other => panic!("{other:?}"),
        }
        while let Some(merged) = collector.poll() {
            if merged.interval.end().0 % Nanos::SECOND.0 == 0 {
                let second = merged.interval.end().0 / Nanos::SECOND.0;
                meanwhile(second);
                if second == 6 {
                    // There is no need to wait for responses that never arrive.
                    threads.broadcast(Command::Finish(clock.now().after(ms(20)) - zero));
                }
            }
            intervals.push(merged.interval);
        }
    }
    threads.join();
    intervals
}

/// Returns the events of connections after `from` until `until`, and how many were open at `until`.
fn between(intervals: &[Interval], from: i64, until: i64) -> (ConnCounts, u64) {
    let mut sum = ConnCounts::default();
    let inside = |interval: &&Interval| interval.end() > ms(from) && interval.end() <= ms(until);
    let mut open = 0;
    for interval in intervals.iter().filter(inside) {
        sum.merge(&interval.conns);
        open = interval.conns.open;
    }
    (sum, open)
}

const HELD: u64 = 200;
const ENDED: usize = 50;

/// In the second and in the third second, the target ends a quarter of the connections.
fn check(engine: EngineChoice, path: Option<&str>, failed: u64) {
    let crowd = Crowd::start(1, 1_000);
    let plan = plan(&crowd, engine, HELD, ms(300), path);
    let intervals = run(plan, |second| match second {
        1 => crowd.end(ENDED, Close::Fin),
        2 => crowd.end(ENDED, Close::Rst),
        _ => {}
    });
    let case = format!("{engine:?}, {path:?}");
    let (opening, open) = between(&intervals, -1, 1_000);
    assert_eq!((opening.opened, opening.lost, open), (HELD, 0, HELD), "{case}");
    // Within a second, plus one for a host that is busy with other tests.
    let (ended, open) = between(&intervals, 1_000, 4_000);
    let both = 2 * ENDED as u64;
    assert_eq!((ended.lost, ended.closed, ended.reopened, ended.opened), (both, 0, both, both), "{case}");
    assert_eq!((ended.failed, open), (0, HELD), "{case}: all are held again");
    let requests =
        intervals.iter().flat_map(|interval| &interval.steps).map(|series| series.counters.failed());
    assert_eq!(requests.sum::<u64>(), failed, "{case}: requests that failed");
    let (all, open) = between(&intervals, -1, 60_000);
    assert_eq!((all.opened, all.closed + all.lost, open), (HELD + both, HELD + both, 0), "{case}");
    assert_eq!(crowd.counts_from(HELD + both).0, HELD + both, "{case}");
}

#[test]
fn silent_connections_that_end_are_missed() {
    for engine in engines() {
        check(engine, None, 0);
    }
}

#[test]
fn connections_that_end_while_their_users_think_are_missed() {
    for engine in engines() {
        check(engine, Some("/"), 0);
    }
}

#[test]
fn connections_that_end_before_a_slow_answer_are_missed() {
    for engine in engines() {
        check(engine, Some("/never"), 2 * ENDED as u64);
    }
}

#[test]
fn an_end_that_was_announced_is_no_loss() {
    for engine in engines() {
        let crowd = Crowd::start(1, 1_000);
        let plan = plan(&crowd, engine, 10, ms(300), Some("/last"));
        let intervals = run(plan, |_| {});
        // A thinking user loses its connection, and gets another one a second after the last one
        // was opened.
        let (held, open) = between(&intervals, -1, 2_000);
        assert_eq!((held.opened - held.reopened, held.lost, open), (10, 0, 10), "{engine:?}: {held:?}");
        assert!(held.closed >= 10 && held.closed == held.reopened, "{engine:?}: {held:?}");
    }
}

#[test]
fn a_crowd_that_was_lost_comes_again_at_a_pace() {
    const CROWD: u64 = 2_000;
    for engine in engines() {
        let crowd = Crowd::start(1, 3_000);
        let plan = plan(&crowd, engine, CROWD, ms(1_000), None);
        let slower = Rate::per_second(100);
        let intervals = run(Plan { open_rate: slower, ..plan }, |second| {
            if second == 2 {
                crowd.end(CROWD as usize, Close::Rst);
            }
        });
        // Reconnects run at the opening rate: within a second, not simultaneously, and not over
        // twenty seconds.
        let (lost, _) = between(&intervals, 2_000, 4_000);
        assert_eq!((lost.lost, lost.failed), (CROWD, 0), "{engine:?}");
        let (again, open) = between(&intervals, 2_000, 4_000);
        assert_eq!((again.reopened, open), (CROWD, CROWD), "{engine:?}: {again:?}");
    }
}
