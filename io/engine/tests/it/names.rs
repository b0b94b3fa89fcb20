//! Tests addresses that change while the load runs: new connections move, open ones stay.

use crate::support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use support::{engines, plain_plan, run, run_early};
use wavetank_engine::Command;
use wavetank_plan::{ConnectionOwner, EngineChoice, Load, PopulationCurve, RequestPlan, Scenario, Step};
use wavetank_testkit::{Script, Target, Truth};
use wavetank_units::Nanos;

/// Runs six users and returns the requests at both servers. With `moved`, the threads learn at the
/// start that the target has moved to the second server.
fn check(connection: ConnectionOwner, open_before: bool, moved: bool, engine: EngineChoice) -> [Truth; 2] {
    let servers = [(); 2].map(|()| Target::start(Script::constant(Duration::from_millis(3))));
    let [old, new]: [SocketAddr; 2] = servers.each_ref().map(Target::address);
    let mut plan = plain_plan(old);
    let request = RequestPlan { method: "GET".to_owned(), path: "/".into(), ..RequestPlan::default() };
    let steps = vec![Step::plain("GET /", 0, request)];
    (plan.engine, plan.scenarios) = (engine, vec![Scenario::from_steps("s", connection, steps)]);
    let length = Nanos::from_millis(300);
    let phase = &mut plan.phases[0];
    phase.load = Load::Closed { users: PopulationCurve::constant(6, Some(length)), sessions_each: None };
    (phase.length, phase.connections, phase.open_before) = (Some(length), 6, open_before);
    let lead = Command::UpdateAddresses(Arc::new([vec![new]]));
    let intervals = if moved { run_early(plan, Vec::new(), Some(lead)).0 } else { run(plan) };
    let failed: u64 =
        intervals.iter().flat_map(|one| &one.steps).map(|series| series.counters.failed()).sum();
    assert_eq!(failed, 0, "{connection:?} on {engine:?}");
    servers.map(|server| server.settled())
}

#[test]
fn new_connections_go_to_the_new_address() {
    for engine in engines() {
        let [old, new] = check(ConnectionOwner::Request, false, false, engine);
        assert!(old.requests > 60 && new.requests == 0, "{engine:?}: no thread was notified");
        let [old, new] = check(ConnectionOwner::Request, false, true, engine);
        // Both threads receive the change before the load starts, 20 ms ahead of it.
        assert_eq!(old.requests, 0, "{engine:?}: {} of {}", old.requests, new.requests);
        assert!(new.requests > 60 && new.connections == new.requests, "{engine:?}: {new:?}");
    }
}

#[test]
fn open_connections_stay() {
    for engine in engines() {
        let [old, new] = check(ConnectionOwner::User, true, true, engine);
        assert_eq!((old.connections, new.connections, new.requests), (6, 0, 0), "{engine:?}");
        assert!(old.requests > 60, "{engine:?}: {old:?}");
    }
}
