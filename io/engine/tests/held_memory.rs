//! Measures the user memory of a held connection, engine and driver together.
//!
//! There is only one test, because the counter is that of the whole process. The memory is the
//! growth of the allocator between two numbers of connections. The larger one is just above a power
//! of two on each thread, where arrays that grow by doubling are emptiest.

#[expect(dead_code, reason = "other tests let it end connections")]
#[path = "it/support/crowd.rs"]
mod crowd;
#[path = "it/support/plain.rs"]
mod plain;

use std::alloc::System;
use std::sync::Arc;
use std::time::Duration;

use crowd::Crowd;
use plain::{engines, plain_plan};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use wavetank_driver::{Clock, Feature, Features};
use wavetank_engine::{Command, LoadConfig, LoadThreads, Message, SourcePorts};
use wavetank_measure::Histogram;
use wavetank_pace::Partition;
use wavetank_plan::{
    Action, EngineChoice, FileTables, Load, Phase, Plan, PopulationCurve, SourcesPlan, Think, parse_sources,
};
use wavetank_testkit::{TimingMismatch, expect_time, retry_timing};
use wavetank_units::{Nanos, Ports};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The limit is 350 bytes for everything, in a process that holds a million connections; this is
/// the growth per connection.
///
/// Measured (x86-64, both drivers): 257 to 296 with a heartbeat and 110 to 133 without, depending
/// on the size of messages. It was 332 once on a busy machine, with more requests in flight at a
/// time.
const HEARTBEAT_MAX: f64 = 350.0;
const SILENCE_MAX: f64 = 150.0;
/// The additional size of two threads' histograms with many connections, since they extend to the
/// slowest value.
///
/// There are a dozen per thread, of 37 kB. A process with a million connections has them only once
/// as well.
const HISTOGRAMS_MAX: i64 = 2 * 12 * 8 * Histogram::BUCKETS as i64;

const FEW: u64 = 1_000;
/// Just above 2^14 on each of two threads.
const MANY: u64 = 33_000;
/// The opening rate. Openings that are due while a thread is delayed are made together, and the
/// memory for requests in flight is kept for later ones. At three times this rate, 414 bytes each
/// were measured on a busy machine.
const RATE: u64 = 4_000;

fn bytes() -> i64 {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as i64 - stats.bytes_deallocated as i64
}

/// Returns a plan that holds `connections` connections. With `heartbeat`, each sends a request when
/// it is opened and then every minute; otherwise it sends none.
fn plan(crowd: &Crowd, connections: u64, engine: EngineChoice, heartbeat: bool) -> Plan {
    let plan = plain_plan(crowd.address);
    let ranges = parse_sources("127.1.0.0/16").expect("addresses");
    let sources = SourcesPlan { ranges, ..SourcesPlan::default() };
    let files = if engine == EngineChoice::Epoll { FileTables::PerThread } else { FileTables::Shared };
    let mut plan = Plan { engine, sources, files, ..plan };
    // A busy machine accepts late, and the kernel then repeats the first packet of a connect.
    plan.http.connect_timeout = Nanos::from_secs(60);
    let scenario = &mut plan.scenarios[0];
    if heartbeat {
        scenario.journey.push(Action::Think(Think::Fixed(Nanos::from_secs(60))));
    } else {
        (scenario.steps, scenario.journey) = (Vec::new(), Vec::new());
    }
    let base = plan.phases.remove(0);
    let opening = Nanos((Nanos::SECOND.0 as u64 * connections / RATE).cast_signed());
    let ramp = PopulationCurve::ramp(0, connections, opening).expect("a ramp");
    let keep = PopulationCurve::constant(connections, Some(Nanos::from_secs(60)));
    for (start, levels) in [(Nanos::ZERO, ramp), (opening, keep)] {
        let length = Some(levels.length());
        let load = Load::Hold { connections: levels, sessions_each: None };
        let open_before = false;
        plan.phases.push(Phase { load, start, length, connections, open_before, ..base.clone() });
    }
    plan
}

/// Returns the bytes that load threads allocate with `connections` connections.
fn held_by(connections: u64, engine: EngineChoice, heartbeat: bool) -> i64 {
    let crowd = Crowd::start(2, 18_000);
    let plan = Arc::new(plan(&crowd, connections, engine, heartbeat));
    let means = LoadConfig::plain(&plan).expect("a plan that can be compiled");
    let means = LoadConfig {
        ports: SourcePorts::new(&Ports::range(10_000, 30_000), u64::from(std::process::id())),
        ..means
    };
    let before = bytes();
    let clock = Clock::starting_now();
    let threads = LoadThreads::prepare(&plan, Partition::WHOLE, clock, &means).expect("threads");
    let (mut ready, mut done, mut opened, mut failed) = (0, 0, 0, 0);
    while opened < connections || (heartbeat && done < connections) {
        match threads.message(Duration::from_mins(1)).expect("nothing came from the threads for a minute") {
            Message::Ready(..) => {
                ready += 1;
                if ready == threads.len() {
                    threads.broadcast(Command::Start(clock.now().after(Nanos::from_millis(20))));
                }
            }
            Message::Sealed(sealed) => {
                opened += sealed.interval.conns.opened;
                failed += sealed.interval.conns.failed;
                done += sealed.interval.steps.iter().map(|series| series.counters.done).sum::<u64>();
            }
            other => panic!("{opened} opened, {done} done: {other:?}"),
        }
        assert_eq!(failed, 0, "{engine:?}: after {opened} were opened");
    }
    let held = bytes() - before;
    assert_eq!(crowd.counts_from(connections), (connections, 0), "{engine:?}: all are there");
    threads.join();
    held
}

/// Checks the growth per connection. A thread that was delayed has more requests in flight, and
/// keeps their memory.
fn check(engine: EngineChoice, heartbeat: bool, bytes_max: f64) -> Result<(), TimingMismatch> {
    let (few, many) = (held_by(FEW, engine, heartbeat), held_by(MANY, engine, heartbeat));
    let each = (many - few) as f64 / (MANY - FEW) as f64;
    assert!(each > 16.0, "{engine:?}: {each:.0} bytes each: less than its number and state");
    let most = bytes_max + HISTOGRAMS_MAX as f64 / (MANY - FEW) as f64;
    expect_time(each <= most, || format!("{engine:?}, heartbeat {heartbeat}: {each:.0} bytes each"))
}

#[test]
fn a_held_connection_costs_little() {
    let files = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files }).expect("up to the hard limit");
    if Features::probe(Features::all()).missing(Feature::Unshare).is_some()
        || files.maximum.is_some_and(|most| most < 18_000)
    {
        return wavetank_testkit::skip("a_held_connection_costs_little", "it needs 18,000 files a thread");
    }
    for engine in engines() {
        retry_timing(|| check(engine, true, HEARTBEAT_MAX));
        retry_timing(|| check(engine, false, SILENCE_MAX));
    }
}
