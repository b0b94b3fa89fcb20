//! Measures the memory of a thinking user without its own connection.
//!
//! There is only one test, because the counter is that of the whole process.

#[path = "it/support/plain.rs"]
mod plain;

use std::alloc::System;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use plain::{engines, plain_plan};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use wavetank_driver::Clock;
use wavetank_engine::{Command, LoadConfig, LoadThreads, Message};
use wavetank_pace::Partition;
use wavetank_plan::{
    Action, ConnectionOwner, EngineChoice, Load, Plan, PopulationCurve, RequestPlan, Scenario, ScenarioMix,
    Step, Think,
};
use wavetank_units::Nanos;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The limit: a million users at half of 512 bytes each, not counting their variables. Measured
/// (x86-64): 201. Of these, 152 are the session, which also stores the state of its user, and 32
/// the timer.
const BYTES_MAX: f64 = 256.0;

const FEW: u64 = 1_000;
/// An eighth of a million: arrays that grow by doubling are filled to the same degree as with a
/// million.
const MANY: u64 = 125_000;

fn bytes() -> i64 {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as i64 - stats.bytes_deallocated as i64
}

/// Returns a plan with `users` users that think for a while before they send anything.
fn plan(address: SocketAddr, users: u64, engine: EngineChoice) -> Plan {
    let request = RequestPlan { method: "GET".to_owned(), path: "/".into(), ..RequestPlan::default() };
    let mut thinking =
        Scenario::from_steps("thinking", ConnectionOwner::Shared, vec![Step::plain("GET /", 0, request)]);
    thinking
        .journey
        .insert(0, Action::Think(Think::Even { from: Nanos::from_secs(60), to: Nanos::from_secs(90) }));
    let plan = plain_plan(address);
    let mut plan = Plan { engine, threads: 1, scenarios: vec![thinking], ..plan };
    let phase = &mut plan.phases[0];
    phase.load = Load::Closed { users: PopulationCurve::constant(users, None), sessions_each: None };
    (phase.length, phase.connections, phase.mix) = (None, 10, ScenarioMix::one(0));
    (phase.open_before, phase.max_open) = (false, users);
    plan
}

/// Returns the bytes that a load thread with `users` of them allocates.
fn held_by(users: u64, engine: EngineChoice) -> i64 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let plan = Arc::new(plan(listener.local_addr().expect("an address"), users, engine));
    let means = LoadConfig::plain(&plan).expect("a plan that can be compiled");
    let before = bytes();
    let clock = Clock::starting_now();
    let threads = LoadThreads::prepare(&plan, Partition::WHOLE, clock, &means).expect("a thread");
    let held = loop {
        match threads.message(Duration::from_mins(1)).expect("nothing came from the thread for a minute") {
            Message::Ready(..) => threads.broadcast(Command::Start(clock.now())),
            Message::Sealed(sealed) if sealed.interval.users == users => break bytes() - before,
            Message::Sealed(_) => {}
            other => panic!("{other:?}"),
        }
    };
    threads.join();
    held
}

fn check(engine: EngineChoice) {
    let (few, many) = (held_by(FEW, engine), held_by(MANY, engine));
    let each = (many - few) as f64 / (MANY - FEW) as f64;
    assert!(each > 64.0, "{engine:?}: {each:.0} bytes each: less than the size of their state");
    assert!(each <= BYTES_MAX, "{engine:?}: {each:.0} bytes each: {few} at {FEW}, {many} at {MANY}");
}

#[test]
fn a_million_who_think_fit_into_a_quarter_of_a_gigabyte() {
    engines().into_iter().for_each(check);
}
