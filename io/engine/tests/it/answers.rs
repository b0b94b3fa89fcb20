//! Requests with more than one message, on real load threads: the count on the wire equals the
//! count at the targets.

use crate::answering;
use crate::support;

use std::net::SocketAddr;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use answering::{Seen, server};
use support::{engines, plain_plan, run};
use wavetank_measure::{ErrorClass, Interval, RequestCounters, WireCounters};
use wavetank_plan::{
    AuthPlan, Check, CheckSubject, ConnectionOwner, EngineChoice, Extract, Load, Op, Operand, Plan,
    PopulationCurve, Quantity, RequestPlan, Scenario, ScenarioMix, Step, Target, Test,
};
use wavetank_testkit::{expect_time, retry_timing};
use wavetank_units::Nanos;

const LENGTH: Nanos = Nanos::from_secs(100);
const SESSIONS: u64 = 10;
/// Requests of the whole run if each session has one.
const REQUESTS: u64 = 3 * SESSIONS;

fn answer(status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Waits for the response time of a server, on a channel that stays open and empty.
fn take(time: Duration) {
    let (_open, nothing) = sync_channel::<()>(1);
    assert!(nothing.recv_timeout(time).is_err());
}

fn ok(body: &str) -> Vec<u8> {
    answer("200 OK", "", body.as_bytes())
}

fn to(location: &str) -> Vec<u8> {
    answer("302 Found", &format!("Location: {location}\r\nSet-Cookie: way=1; Path=/\r\n"), b"")
}

fn get(path: &str) -> Step {
    let request = RequestPlan { method: "GET".to_owned(), path: path.into(), ..RequestPlan::default() };
    Step::plain(format!("GET {path}"), 0, request)
}

/// Returns a plan with three users that repeat `steps` ten times, with targets at `addresses`. Its
/// time is far longer than even a slow machine needs.
fn plan(addresses: &[SocketAddr], steps: Vec<Step>, engine: EngineChoice) -> Plan {
    let mut plan = plain_plan(addresses[0]);
    let first = plan.targets[0].clone();
    let target = |address: &SocketAddr| Target {
        name: address.to_string(),
        url: format!("http://{address}/"),
        host: address.to_string(),
        addresses: vec![*address],
        ..first.clone()
    };
    plan.targets = addresses.iter().map(target).collect();
    plan.engine = engine;
    plan.http.cookies = true;
    plan.scenarios = vec![Scenario {
        variables: vec!["v".to_owned()],
        ..Scenario::from_steps("s", ConnectionOwner::User, steps)
    }];
    let users = PopulationCurve::constant(3, Some(LENGTH));
    let load = Load::Closed { users, sessions_each: Some(SESSIONS) };
    let phase = &mut plan.phases[0];
    (phase.length, phase.connections) = (Some(LENGTH), 3);
    (phase.mix, phase.load, phase.open_before, phase.max_open) = (ScenarioMix::one(0), load, false, 1_000);
    plan
}

/// The results of all requests, and the reported failures.
struct Came {
    counters: RequestCounters,
    wire: WireCounters,
}

impl Came {
    fn of(intervals: &[Interval]) -> Self {
        let mut came = Self { counters: RequestCounters::default(), wire: WireCounters::default() };
        for series in intervals.iter().flat_map(|interval| &interval.steps) {
            came.counters.merge(&series.counters);
            came.wire.merge(&series.wire);
        }
        let (counters, wire) = (&came.counters, &came.wire);
        assert_eq!(wire.sent, counters.sent + wire.retried + wire.redirected + wire.resources);
        came
    }

    fn failed(&self, class: ErrorClass) -> u64 {
        self.counters.errors[class as usize]
    }
}

/// Runs `plan` and checks that every request succeeded and that the count on the wire equals that
/// at the targets.
fn all_done(plan: Plan, seen: &[&Seen]) -> Came {
    let came = Came::of(&run(plan));
    let at_targets: usize = seen.iter().map(|seen| seen.lock().expect("no panic").len()).sum();
    assert_eq!(came.wire.sent, at_targets as u64, "{:?}", came.wire);
    assert!(came.counters.done == REQUESTS && came.counters.offered == REQUESTS, "{:?}", came.counters);
    came
}

fn on_both(test: fn(EngineChoice)) {
    engines().into_iter().for_each(test);
}

#[test]
fn redirects_are_followed_to_other_targets_and_counted() {
    on_both(|engine| {
        let (far, far_seen) = server(|_| ok("there"));
        let (near, near_seen) = server(move |request| match request.split(' ').nth(1) {
            Some("/a") => to("/b"),
            Some("/b") => to(&format!("http://{far}/c")),
            other => panic!("{other:?}"),
        });
        let step = Step { follow: 5, ..get("/a") };
        let came = all_done(plan(&[near, far], vec![step], engine), &[&near_seen, &far_seen]);
        assert_eq!(came.wire.redirected, 2 * came.counters.done);
        let near_seen = near_seen.lock().unwrap();
        let cookies = near_seen.iter().filter(|request| request.contains("Cookie: way=1")).count();
        assert!(
            cookies as u64 >= came.counters.done,
            "the first answer's cookie comes with the second request"
        );
        let far_seen = far_seen.lock().unwrap();
        assert!(far_seen.iter().all(|request| request.contains(&format!("Host: {far}\r\n"))));
    });
}

#[test]
fn a_redirect_elsewhere_fails_and_sends_nothing_there() {
    on_both(|engine| {
        let (elsewhere, none) = server(|_| ok(""));
        let (near, _) = server(move |_| to(&format!("http://{elsewhere}/")));
        let step = Step { follow: 5, ..get("/a") };
        let came = Came::of(&run(plan(&[near], vec![step], engine)));
        assert!(came.counters.offered == REQUESTS && came.failed(ErrorClass::Other) == came.counters.offered);
        assert!(none.lock().unwrap().is_empty());
    });
}

#[test]
fn challenges_are_answered_and_their_answers_sent_ahead() {
    on_both(|engine| {
        let (address, seen) = server(|request| {
            if request.contains("\r\nAuthorization: Digest username=\"anna\"") {
                return ok("");
            }
            answer("401 Who", "WWW-Authenticate: Digest realm=r, nonce=n, qop=\"auth\"\r\n", b"who?")
        });
        let auth = Some(AuthPlan::Digest("anna".into(), "x".into()));
        let came = all_done(plan(&[address], vec![Step { auth, ..get("/a") }], engine), &[&seen]);
        assert_eq!(came.wire.retried, 3, "each user is asked once");
        let seen = seen.lock().unwrap();
        let firsts = seen.iter().filter(|request| request.contains("nc=00000001,")).count();
        let seconds = seen.iter().filter(|request| request.contains("nc=00000002,")).count();
        assert_eq!((firsts, seconds), (3, 3));
    });
}

#[test]
fn embedded_resources_are_in_their_pages_time() {
    on_both(|engine| {
        let (far, far_seen) = server(|_| ok(".."));
        let (near, near_seen) = server(move |request| match request.split(' ').nth(1) {
            Some("/") => {
                let page =
                    format!("<img src=a.png><script src=http://{far}/s.js></script><img src=http://x.y/>");
                answer("200 OK", "Content-Type: text/html\r\n", page.as_bytes())
            }
            Some("/a.png") => {
                // Slower than everything else together.
                take(Duration::from_millis(20));
                ok("png")
            }
            other => panic!("{other:?}"),
        });
        let step = Step { resources: true, ..get("/") };
        let plan = plan(&[near, far], vec![step], engine);
        let intervals = run(plan);
        let came = Came::of(&intervals);
        assert_eq!(came.wire.resources, 2 * came.counters.done);
        let fastest =
            intervals.iter().flat_map(|interval| &interval.steps).map(|series| series.response.min());
        assert!(
            fastest.filter(|&ns| ns > 0).all(|ns| ns >= 20_000_000),
            "the page's time is that of all it embeds"
        );
        let at_targets = near_seen.lock().unwrap().len() + far_seen.lock().unwrap().len();
        assert_eq!((came.wire.sent, came.counters.done), (at_targets as u64, came.counters.offered));
    });
}

#[test]
fn a_resource_that_is_not_there_fails_its_page() {
    on_both(|engine| {
        let (address, seen) = server(|request| match request.split(' ').nth(1) {
            Some("/") => answer("200 OK", "Content-Type: text/html\r\n", b"<img src=/no><img src=/yes>"),
            Some("/yes") => ok(""),
            _ => answer("404 No", "", b""),
        });
        let came = Came::of(&run(plan(&[address], vec![Step { resources: true, ..get("/") }], engine)));
        assert!(
            came.counters.offered == REQUESTS && came.failed(ErrorClass::Status) == came.counters.offered
        );
        assert_eq!(came.wire.sent, seen.lock().unwrap().len() as u64);
        assert_eq!(came.wire.resources, 2 * came.counters.offered);
    });
}

/// `{"sku": 17}`
const GZIP: [u8; 31] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 42, 206, 46, 85, 178, 82, 48, 52, 175, 5, 0, 241, 130, 14, 157,
    11, 0, 0, 0,
];

#[test]
fn what_is_encoded_is_looked_into_and_too_long_fails() {
    on_both(|engine| {
        let (address, _) = server(|_| answer("200 OK", "Content-Encoding: gzip\r\n", &GZIP));
        let mut step = get("/");
        step.extract = vec![Extract { variable: 0, from: "json $.sku".to_owned(), all: false }];
        step.checks = vec![Check {
            text: "json $.sku = 17".to_owned(),
            subject: CheckSubject::Answer("json $.sku".to_owned()),
            test: Test::Compare(Op::Equal, vec![Operand::Number(17.0.into(), Quantity::Bare)]),
        }];
        let came = Came::of(&run(plan(&[address], vec![step.clone()], engine)));
        assert!(came.counters.done == REQUESTS && came.counters.offered == REQUESTS, "{:?}", came.counters);
        let mut limited = plan(&[address], vec![get("/")], engine);
        limited.http.body_max = Some(GZIP.len() as u64 - 1);
        let intervals = run(limited);
        let came = Came::of(&intervals);
        assert!(
            came.counters.offered == REQUESTS && came.failed(ErrorClass::BodyLimit) == came.counters.offered
        );
        let opened: u64 = intervals.iter().map(|interval| interval.conns.opened).sum();
        assert!(opened >= came.counters.offered, "such an answer ends its connection");
    });
}

#[test]
fn a_step_has_its_own_time() {
    on_both(|engine| {
        let (address, _) = server(|request| {
            if request.starts_with("GET /slow") {
                take(Duration::from_millis(150));
            }
            to("/slow")
        });
        let step = Step { follow: 1, timeout: Some(Nanos::from_millis(60)), ..get("/") };
        retry_timing(|| {
            let came = Came::of(&run(plan(&[address], vec![step.clone()], engine)));
            let (timed_out, redirected) = (came.failed(ErrorClass::RequestTimeout), came.wire.redirected);
            assert!(came.counters.offered == REQUESTS && timed_out <= REQUESTS && redirected <= REQUESTS);
            // A late response to the first message leaves no time for the second.
            let all = timed_out == REQUESTS && redirected == REQUESTS;
            expect_time(all, || format!("{timed_out} timed out, {redirected} were redirected"))
        });
    });
}
