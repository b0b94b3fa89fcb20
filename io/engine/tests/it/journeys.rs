//! Tests journeys on real load threads, against a server with responses defined by a test.

use crate::answering;
use crate::support;

use std::net::SocketAddr;

use answering::server;
use support::{engines, plain_plan, run};
use wavetank_measure::{ErrorClass, Interval};
use wavetank_plan::{
    Action, Arrivals, Check, CheckSubject, ConnectionOwner, EngineChoice, Escape, Expr, Extract, Hole, Load,
    OnFailure, Op, Operand, Plan, PopulationCurve, Quantity, RateCurve, RequestPlan, Scenario, ScenarioMix,
    Step, Template, TemplatePart, Test, Think,
};
use wavetank_units::{Nanos, Rate};

fn ok(fields: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn request(method: &str, path: Template, body: Template) -> RequestPlan {
    RequestPlan { method: method.to_owned(), path, body, ..RequestPlan::default() }
}

fn get(path: &str) -> Step {
    Step::plain(format!("GET {path}"), 0, request("GET", path.into(), Template::default()))
}

fn check(subject: &str, op: Op, number: f64) -> Check {
    Check {
        text: format!("{subject} {} {number}", op.sign()),
        subject: CheckSubject::Answer(subject.to_owned()),
        test: Test::Compare(op, vec![Operand::Number(number.into(), Quantity::Bare)]),
    }
}

/// Returns a plan with `load` of `scenario`, with users that keep cookies.
fn plan(address: SocketAddr, scenario: Scenario, load: Load, engine: EngineChoice) -> Plan {
    let mut plan = plain_plan(address);
    plan.engine = engine;
    plan.http.cookies = true;
    plan.scenarios = vec![scenario];
    let phase = &mut plan.phases[0];
    phase.length = Some(match &load {
        Load::Open { rate, .. } => rate.length(),
        other => other.levels().map_or(Nanos::SECOND, PopulationCurve::length),
    });
    phase.connections = load.levels().map_or(50, PopulationCurve::max);
    (phase.mix, phase.load, phase.open_before, phase.max_open) = (ScenarioMix::one(0), load, false, 1_000);
    plan
}

/// `count` users with ten sessions each, in far more time than even a slow machine needs.
fn ten_each(count: u64) -> Load {
    let users = PopulationCurve::constant(count, Some(Nanos::from_secs(100)));
    Load::Closed { users, sessions_each: Some(10) }
}

/// Returns the counts of a step: offered, done, failed by checks, failed by data.
fn counted(intervals: &[Interval], step: u16) -> (u64, u64, u64, u64) {
    let series = intervals.iter().flat_map(|interval| &interval.steps);
    series.filter(|series| series.key.step == step).fold((0, 0, 0, 0), |sum, series| {
        let counters = &series.counters;
        (
            sum.0 + counters.offered,
            sum.1 + counters.done,
            sum.2 + counters.errors[ErrorClass::Check as usize],
            sum.3 + counters.errors[ErrorClass::Data as usize],
        )
    })
}

/// Look at an item, put the found item into the order, and order.
fn shop() -> Scenario {
    let mut look = get("/look");
    look.extract = vec![Extract { variable: 0, from: "json $.sku".to_owned(), all: false }];
    let mut body = Template::from("{\"sku\":");
    body.pieces.push(TemplatePart::Hole(Hole { value: Expr::Variable(0), escape: Escape::JsonValue }));
    body.push_fixed(b"}");
    let mut buy = Step::plain("buy", 0, request("POST", "/order".into(), body));
    buy.checks = vec![check("status", Op::Equal, 200.0), check("json $.left", Op::Greater, 0.0)];
    let mut scenario = Scenario::from_steps("shop", ConnectionOwner::User, vec![look, buy]);
    scenario.variables = vec!["sku".to_owned()];
    scenario.journey.insert(1, Action::Think(Think::Fixed(Nanos::from_millis(10))));
    scenario
}

fn on_both(test: fn(EngineChoice)) {
    engines().into_iter().for_each(test);
}

#[test]
fn what_is_found_goes_into_the_next_request() {
    on_both(|engine| {
        let (address, seen) = server(|request| {
            let cookie = "Set-Cookie: id=7; Path=/\r\n";
            if request.starts_with("GET") { ok(cookie, "{\"sku\": 17}") } else { ok("", "{\"left\": 5}") }
        });
        let intervals = run(plan(address, shop(), ten_each(4), engine));
        let (looks, buys) = (counted(&intervals, 0), counted(&intervals, 1));
        assert!(buys.0 == 40, "{buys:?}");
        assert_eq!((looks.0, looks.1), (looks.1, looks.0), "{looks:?}");
        assert_eq!((buys.0, buys.1, buys.2, buys.3), (buys.0, buys.0, 0, 0));
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len() as u64, looks.0 + buys.0, "every request is counted, and none twice");
        let orders: Vec<_> = seen.iter().filter(|request| request.starts_with("POST")).collect();
        assert_eq!(orders.len() as u64, buys.0);
        for order in orders {
            assert!(order.ends_with("\r\n\r\n{\"sku\":17}"), "{order}");
            assert!(order.contains("\r\nCookie: id=7\r\n"), "{order}");
        }
    });
}

#[test]
fn a_check_that_does_not_hold_fails_its_request() {
    on_both(|engine| {
        let (address, _) = server(|request| {
            if request.starts_with("GET") { ok("", "{\"sku\": \"a\"}") } else { ok("", "{\"left\": 0}") }
        });
        let intervals = run(plan(address, shop(), ten_each(2), engine));
        let (looks, buys) = (counted(&intervals, 0), counted(&intervals, 1));
        assert!(buys.0 == 20 && buys.2 == buys.0 && buys.1 == 0, "{buys:?}");
        assert_eq!(looks.0, looks.1, "{looks:?}");
    });
}

#[test]
fn what_was_not_found_is_not_sent() {
    on_both(|engine| {
        let (address, seen) = server(|_| ok("", "{}"));
        let mut plan = plan(address, shop(), ten_each(2), engine);
        plan.drain = Nanos::from_secs(5);
        let intervals = run(plan);
        let (looks, buys) = (counted(&intervals, 0), counted(&intervals, 1));
        assert!(looks.0 == 20 && looks.2 == looks.0, "{looks:?}");
        assert!(buys.0 == looks.0 && buys.3 == buys.0, "{buys:?}");
        assert_eq!(seen.lock().unwrap().len() as u64, looks.0);
    });
}

#[test]
fn a_failure_ends_the_session_where_it_shall() {
    on_both(|engine| {
        let (address, _) = server(|_| ok("", "{}"));
        let mut shop = shop();
        shop.on_failure = OnFailure::EndSession;
        let intervals = run(plan(address, shop, ten_each(2), engine));
        let (looks, buys) = (counted(&intervals, 0), counted(&intervals, 1));
        assert!(looks.0 == 20 && looks.2 == looks.0, "{looks:?}");
        assert_eq!(buys.0, 0);
    });
}

#[test]
fn sessions_of_the_open_model_go_their_way() {
    on_both(|engine| {
        let (address, seen) = server(|_| ok("", ""));
        let mut steps = vec![get("/a"), get("/b")];
        steps[1].request.path = Template::from("/b/");
        steps[1]
            .request
            .path
            .pieces
            .push(TemplatePart::Hole(Hole { value: Expr::Session, escape: Escape::Plain }));
        let mut scenario = Scenario::from_steps("two", ConnectionOwner::Shared, steps);
        scenario.journey = vec![Action::Request(0), Action::Repeat(2, vec![Action::Request(1)])];
        let rate = RateCurve::constant(Rate::per_second(200), Some(Nanos::from_millis(500)));
        let load = Load::Open { rate, arrivals: Arrivals::Even, requests_each: None };
        let intervals = run(plan(address, scenario, load, engine));
        assert_eq!((counted(&intervals, 0).1, counted(&intervals, 1).1), (100, 200));
        let seen = seen.lock().unwrap();
        for session in 0..100 {
            let path = format!("GET /b/{session} HTTP/1.1\r\n");
            let times = seen.iter().filter(|request| request.starts_with(&path)).count();
            assert_eq!(times, 2, "session {session}");
        }
    });
}

#[test]
fn users_who_only_think_are_let_go() {
    let (address, seen) = server(|_| ok("", ""));
    let mut scenario = Scenario::from_steps("slow", ConnectionOwner::User, vec![get("/a")]);
    scenario.journey.push(Action::Think(Think::Fixed(Nanos::from_secs(2))));
    let falling = PopulationCurve::ramp(20, 0, Nanos::from_millis(400)).expect("a ramp");
    let load = Load::Closed { users: falling, sessions_each: None };
    let intervals = run(plan(address, scenario, load, EngineChoice::Epoll));
    assert_eq!(seen.lock().unwrap().len(), 20);
    assert_eq!(intervals.last().expect("an interval").users, 0);
    // The last user to leave may be in a session when the phase ends, which it then completes.
    let early = intervals.iter().filter(|interval| interval.end() <= Nanos::SECOND);
    let ended: u64 = early.map(|interval| interval.conns.closed).sum();
    assert!(ended >= 18, "{ended} connections were closed while their users thought");
}
