//! Requests that sessions write need no allocations once buffers have grown, measured on a complete
//! load thread.
//!
//! There is only one test, because the counter is that of the whole process.

#[path = "it/support/mod.rs"]
mod support;

use std::alloc::System;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use support::{engines, plain_plan, run};
use wavetank_plan::{
    Check, CheckSubject, ConnectionOwner, EngineChoice, Escape, Expr, Extract, Hole, Load, Op, Operand, Plan,
    PopulationCurve, Quantity, RequestPlan, Scenario, ScenarioMix, Step, Template, TemplatePart, Test,
};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{\"sku\": \"A1\"}";

/// Responds to every read with one message, without allocating.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream: TcpStream = stream.expect("a connection");
            std::thread::spawn(move || answer(&stream));
        }
    });
    address
}

fn answer(mut stream: &TcpStream) {
    let mut buffer = [0; 4_096];
    while stream.read(&mut buffer).is_ok_and(|length| length > 0) && stream.write_all(ANSWER).is_ok() {}
}

/// A POST with two values, one extraction and one check.
fn templated() -> Scenario {
    let mut body = Template::from("{\"sku\": ");
    body.pieces.push(TemplatePart::Hole(Hole {
        value: Expr::Pick(vec![Expr::Text("x".to_owned()), Expr::User]),
        escape: Escape::JsonValue,
    }));
    body.push_fixed(b", \"session\": ");
    body.pieces.push(TemplatePart::Hole(Hole { value: Expr::Session, escape: Escape::JsonValue }));
    body.push_fixed(b"}");
    let request =
        RequestPlan { method: "POST".to_owned(), path: "/order".into(), body, ..RequestPlan::default() };
    let mut step = Step::plain("order", 0, request);
    step.extract = vec![Extract { variable: 0, from: "json $.sku".to_owned(), all: false }];
    step.checks = vec![Check {
        text: "status = 200".to_owned(),
        subject: CheckSubject::Answer("status".to_owned()),
        test: Test::Compare(Op::Equal, vec![Operand::Number(200.0.into(), Quantity::Bare)]),
    }];
    let mut scenario = Scenario::from_steps("templated", ConnectionOwner::User, vec![step]);
    scenario.variables = vec!["sku".to_owned()];
    scenario
}

/// Returns the number of allocations in a run of four users with `sessions` sessions each.
fn allocations(address: SocketAddr, engine: EngineChoice, sessions: u64) -> u64 {
    let plan = plain_plan(address);
    let mut plan = Plan { engine, threads: 1, scenarios: vec![templated()], ..plan };
    let phase = &mut plan.phases[0];
    phase.load = Load::Closed { users: PopulationCurve::constant(4, None), sessions_each: Some(sessions) };
    (phase.length, phase.connections, phase.mix) = (None, 4, ScenarioMix::one(0));
    let region = Region::new(ALLOCATOR);
    let intervals = run(plan);
    let stats = region.change();
    let done: u64 = intervals.iter().flat_map(|one| &one.steps).map(|series| series.counters.done).sum();
    assert_eq!(done, 4 * sessions);
    (stats.allocations + stats.reallocations) as u64
}

#[test]
fn a_templated_request_asks_for_no_memory() {
    let address = server();
    for engine in engines() {
        // Covers the allocations that the process makes once.
        allocations(address, engine, 10);
        let (few, many) = (allocations(address, engine, 100), allocations(address, engine, 1_600));
        // Sealing an interval each second needs some allocations, as does the thread that collects
        // it.
        let more = many.saturating_sub(few);
        assert!(more < 300, "{engine:?}: {few} in 400 requests, {more} more in 6,000 more");
    }
}
