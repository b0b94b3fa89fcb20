//! A lone user on real sockets: what a run does before and after its load, and what `try` tells.

use std::time::Duration;

use crate::support::{engines, plain_plan};
use wavetank_driver::Clock;
use wavetank_engine::{Alone, AloneLimits, Early, Happened, Means, Walked, Why};
use wavetank_journey::value::{Finds, Kind};
use wavetank_measure::ErrorClass;
use wavetank_plan::{
    Action, Check, ConnectionUse, EngineChoice, Escape, Expr, Extract, Hole, Nanos, OnFailure, Op, Operand,
    Piece, Plan, Quantity, Rendezvous, RequestPlan, Scenario, Step, Template, Test, Tested, Think,
};
use wavetank_testkit::{Accept, Act, Script, Target, answer, answer_with};

/// Answers by path: `/login` sets a cookie and tells a token, `/sold` a number; `/broken` fails, and `/long` is longer
/// than what can be looked into.
fn shop() -> Script {
    Script::new(|seen| {
        vec![Act::Send(match seen.path.as_str() {
            "/login" => answer_with(200, &[("Set-Cookie", "id=7; Path=/")], b"{\"token\": \"t 1\"}"),
            "/sold" => answer(200, b"{\"sold\": 3}"),
            "/broken" => answer(500, b"oh\n"),
            "/long" => answer(200, &vec![b'x'; 17 << 20]),
            _ => answer(200, b"hello\n"),
        })]
    })
}

fn get(path: &str) -> Step {
    let request = RequestPlan { method: "GET".to_owned(), path: path.into(), ..RequestPlan::default() };
    Step::plain(format!("GET {path}"), 0, request)
}

/// `GET /x/${VARIABLE}`.
fn get_with(slot: u16) -> Step {
    let mut step = get("/x/");
    step.request.path.pieces.push(Piece::Hole(Hole { value: Expr::Variable(slot), escape: Escape::Path }));
    step
}

fn scenario(steps: Vec<Step>) -> Scenario {
    let mut scenario = Scenario::of_steps("s", ConnectionUse::User, steps);
    scenario.variables = vec!["token".to_owned(), "other".to_owned()];
    scenario
}

fn plan(target: &Target, scenario: Scenario, engine: EngineChoice) -> Plan {
    let mut plan = plain_plan(target.address());
    (plan.engine, plan.http.cookies, plan.scenarios) = (engine, true, vec![scenario]);
    plan
}

/// A word for everything that happens, in order.
fn word(happened: Happened<'_>) -> String {
    match happened {
        Happened::Step(step) => format!("step {step}"),
        Happened::Opened(_) => "opened".to_owned(),
        Happened::Sent(sent) => {
            let line = sent.bytes.split(|&byte| byte == b'\r').next().unwrap_or_default();
            let cookie =
                if String::from_utf8_lossy(sent.bytes).contains("Cookie: id=7") { " +cookie" } else { "" };
            let again = if sent.why == Why::Retry { " again" } else { "" };
            format!("> {}{cookie}{again}", String::from_utf8_lossy(line))
        }
        Happened::Answered(answer) => format!("< {} {}", answer.status, answer.body_bytes),
        Happened::Unanswered { trouble, .. } => format!("< {}", trouble.class.name()),
        Happened::Cookie(..) => "cookie".to_owned(),
        Happened::Extracted(name, _, found) => format!("{name} {}", found.is_ok()),
        Happened::Checked(check, instead) => format!("{check}: {instead:?}"),
        Happened::Counted(name, holds) => format!("{name} {holds}"),
        Happened::Over(trouble) => trouble.map_or_else(
            || "ok".to_owned(),
            |trouble| format!("{}: {}", trouble.class.name(), trouble.detail),
        ),
        Happened::Set(name, value) => {
            let text = value.first().map(|found| String::from_utf8_lossy(found.text).into_owned());
            format!("{name} = {}", text.unwrap_or_default())
        }
        Happened::Paused(length, slept) => format!("pause {length} {slept}"),
        Happened::Met(name) => format!("met {name}"),
        Happened::Grouped(name, _) => format!("group {name}"),
        Happened::Logged(text) => format!("log {text}"),
        Happened::EndsEarly(early) => format!("ends {early:?}"),
        Happened::Asked(condition, held) => format!("{condition}? {held}"),
        Happened::Endless => "endless".to_owned(),
        Happened::Enough(count) => format!("enough {count}"),
    }
}

/// The first scenario's only user, and what he told.
fn walked(plan: &Plan, limits: AloneLimits) -> (Walked, Vec<String>) {
    let means = Means::plain(plan).expect("a plan that can be compiled");
    let mut told = Vec::new();
    let alone = Alone::new(plan, &means, Clock::starting_now(), &|| false).expect("compiles");
    let walked = alone.within(limits).scenario(0, &[], &mut |happened| told.push(word(happened)));
    (walked, told)
}

fn quick() -> AloneLimits {
    AloneLimits { sleeps: false, ..AloneLimits::default() }
}

fn counts(walked: &Walked) -> (u64, u64, u64) {
    (walked.sent, walked.done, walked.failed)
}

fn of(subject: &str, op: Op, number: f64) -> Check {
    Check {
        text: format!("{subject} {} {number}", op.sign()),
        subject: Tested::Answer(subject.to_owned()),
        test: Test::Compare(op, vec![Operand::Number(number, Quantity::Bare)]),
    }
}

/// What the load threads cannot look into he cannot, either; where nobody looks inside, it is as long as it is.
#[test]
fn what_is_too_long_to_look_into_is_so_for_him_too() {
    for engine in engines() {
        let target = Target::start(shop());
        let mut looked = get("/long");
        looked.checks = vec![Check {
            text: "body contains x".to_owned(),
            subject: Tested::Answer("body".to_owned()),
            test: Test::Contains(vec!["x".into()]),
        }];
        let mut page = get("/long");
        page.resources = true;
        let (walked, told) =
            walked(&plan(&target, scenario(vec![looked, page, get("/long")]), engine), quick());
        assert_eq!(counts(&walked), (3, 2, 1), "{told:?}");
        let class = walked.failure.map(|failure| failure.trouble.class);
        assert_eq!(class, Some(ErrorClass::BodyLimit), "{told:?}");
    }
}

#[test]
fn everything_on_the_way_is_told() {
    for engine in engines() {
        let target = Target::start(shop());
        let mut login = get("/login");
        login.extract = vec![Extract { variable: 0, from: "json $.token".to_owned(), all: false }];
        login.checks = vec![of("status", Op::Equal, 200.0)];
        login.counts = vec![(0, of("status", Op::Equal, 200.0))];
        let mut journey = scenario(vec![login, get_with(0)]);
        journey.groups = vec!["in".to_owned()];
        let asks = |text: &str| Check {
            text: format!("other = {text}"),
            subject: Tested::Value(Template {
                pieces: vec![Piece::Hole(Hole { value: Expr::Variable(1), escape: Escape::Plain })],
            }),
            test: Test::Compare(Op::Equal, vec![Operand::Text(text.into())]),
        };
        let unless = |text: &str| Action::If {
            check: Box::new(asks(text)),
            then: vec![Action::Log("in it".into())],
            otherwise: Vec::new(),
        };
        journey.journey = vec![
            Action::Set(1, "x".into()),
            unless("y"),
            unless("x"),
            Action::Group(0, vec![Action::Request(0)]),
            Action::Think(Think::Fixed(Nanos::from_secs(2_000))),
            Action::Rendezvous(Rendezvous { place: 0, wait: Nanos::from_secs(3600), of: None }),
            Action::Request(1),
            Action::Log("bye".into()),
            Action::EndSession,
            Action::Request(1),
        ];
        let mut plan = plan(&target, journey, engine);
        plan.shared.counts = vec!["logins".to_owned()];
        plan.shared.rendezvous = vec!["doors".to_owned()];
        let (walked, told) = walked(&plan, quick());
        let expected = [
            "other = x",
            "other = y? false",
            "other = x? true",
            "log in it",
            "step 0",
            "opened",
            "> GET /login HTTP/1.1",
            "< 200 16",
            "cookie",
            "token true",
            "status = 200: None",
            "logins true",
            "ok",
            "group in",
            "pause 33 m 20 s false",
            "met doors",
            "step 1",
            "> GET /x/t%201 HTTP/1.1 +cookie",
            "< 200 6",
            "ok",
            "log bye",
            "ends Session",
        ];
        assert_eq!(told, expected, "{engine:?}");
        assert_eq!((counts(&walked), walked.counts.as_slice()), ((2, 2, 0), &[1][..]));
        assert_eq!((walked.early, walked.failure), (Some(Early::Session), None));
        assert_eq!(target.truth().requests, 2);
        assert_eq!(target.truth().connections, 1, "one connection, kept");
    }
}

#[test]
fn what_is_set_before_is_there_after() {
    let target = Target::start(shop());
    let mut login = get("/login");
    login.extract = vec![Extract { variable: 0, from: "json $.token".to_owned(), all: false }];
    let mut sold = get_with(0);
    sold.checks = vec![Check {
        text: "as many as were counted".to_owned(),
        subject: Tested::Value(Template {
            pieces: vec![Piece::Hole(Hole { value: Expr::Count(0), escape: Escape::Plain })],
        }),
        test: Test::Compare(Op::Equal, vec![Operand::Number(3.0, Quantity::Bare)]),
    }];
    let mut plan = plan(&target, scenario(vec![get_with(0)]), EngineChoice::Epoll);
    plan.shared.counts = vec!["sold".to_owned()];
    plan.around.before = Some(Box::new(scenario(vec![login])));
    plan.around.after = Some(Box::new(scenario(vec![sold])));
    let means = Means::plain(&plan).expect("compiles");
    let mut alone = Alone::new(&plan, &means, Clock::starting_now(), &|| false).expect("compiles");
    let before = alone.before(&mut |_| ());
    let mut token = Finds::default();
    assert!(token.push(Kind::Text, b"t 1"));
    assert_eq!((counts(&before), &before.variables), ((1, 1, 0), &vec![("token".to_owned(), token)]));
    let load = alone.scenario(0, &before.variables, &mut |_| ());
    assert_eq!((counts(&load), load.failure), ((1, 1, 0), None));
    let after = alone.after(&before.variables, &[3], &mut |_| ());
    assert_eq!((counts(&after), after.failure), ((1, 1, 0), None));
    let short = alone.after(&before.variables, &[2], &mut |_| ());
    assert_eq!(counts(&short), (1, 0, 1));
    let instead = short.checks.iter().map(|check| (check.check.as_str(), check.instead.as_deref()));
    assert_eq!(instead.collect::<Vec<_>>(), [("as many as were counted", Some("2"))]);
    assert_eq!(short.faults, [], "by a check alone");
    assert_eq!(target.truth().of_path("/x/t%201"), 3);
}

/// Walk through `steps` against a target of `script`: what was counted, and the first failure's class and words.
fn check_failing(script: &Script, steps: &[Step], expected: (u64, u64, u64), class: ErrorClass, words: &str) {
    for engine in engines() {
        let target = Target::start(script.clone());
        let mut plan = plan(&target, scenario(steps.to_vec()), engine);
        plan.http.timeout = Nanos::from_millis(300);
        let (walked, told) = walked(&plan, quick());
        let failure = walked.failure.as_ref().unwrap_or_else(|| panic!("{told:?}"));
        assert_eq!((counts(&walked), failure.trouble.class), (expected, class), "{engine:?} {told:?}");
        assert!(failure.trouble.detail.contains(words), "{failure:?}");
        assert_eq!(target.truth().requests, expected.0, "{engine:?}: sent is what came");
    }
}

#[test]
fn failures_are_told_as_what_they_are() {
    let hello = [get("/")];
    check_failing(
        &shop().accepting(Accept::Refuse),
        &hello,
        (0, 0, 1),
        ErrorClass::ConnectRefused,
        "refused",
    );
    check_failing(&shop(), &[get("/broken"), get("/")], (2, 1, 1), ErrorClass::Status, "500");
    check_failing(
        &shop(),
        &[get_with(0), get("/")],
        (0, 0, 1),
        ErrorClass::Data,
        "${token} was not extracted",
    );
    check_failing(&Script::silence(), &hello, (1, 0, 1), ErrorClass::RequestTimeout, "request timeout");
    check_failing(&Script::raw(b"220 mail\r\n", false), &hello, (1, 0, 1), ErrorClass::Protocol, "");
    check_failing(&Script::half_close(100), &hello, (1, 0, 1), ErrorClass::ClosedEarly, "");
    let mut missing = get("/sold");
    missing.extract = vec![Extract { variable: 0, from: "json $.sku".to_owned(), all: false }];
    check_failing(&shop(), &[missing], (1, 0, 1), ErrorClass::Check, "json $.sku: not found in the answer");
    let mut checked = get("/sold");
    checked.checks = vec![of("json $.sold", Op::LessEqual, 2.0)];
    check_failing(&shop(), &[checked], (1, 0, 1), ErrorClass::Check, "json $.sold <= 2: found 3");
}

#[test]
fn a_failure_ends_what_the_plan_says() {
    let told_by = |on_failure| {
        let target = Target::start(shop());
        let mut journey = scenario(vec![get("/broken"), get("/"), get("/last")]);
        journey.journey = vec![Action::Request(0), Action::Request(1)];
        journey.after = vec![Action::Request(2)];
        journey.on_failure = on_failure;
        let walked = walked(&plan(&target, journey, EngineChoice::Epoll), quick()).0;
        (counts(&walked), walked.early)
    };
    assert_eq!(told_by(OnFailure::Continue), ((3, 2, 1), None));
    assert_eq!(told_by(OnFailure::EndSession), ((2, 1, 1), Some(Early::Failure)));
    assert_eq!(told_by(OnFailure::EndRun), ((1, 0, 1), Some(Early::Run)));
    let target = Target::start(shop());
    let mut plan = plan(&target, scenario(vec![get("/")]), EngineChoice::Epoll);
    plan.around.before = Some(Box::new(scenario(vec![get("/broken"), get("/")])));
    let means = Means::plain(&plan).expect("compiles");
    let mut alone = Alone::new(&plan, &means, Clock::starting_now(), &|| false).expect("compiles");
    let before = alone.before(&mut |_| ());
    assert_eq!((counts(&before), before.early), ((1, 0, 1), Some(Early::Failure)), "nothing behind it");
}

#[test]
fn a_connection_that_was_closed_meanwhile_is_opened_again() {
    for engine in engines() {
        let target = Target::start(Script::close_on_next(1));
        let (walked, told) = walked(&plan(&target, scenario(vec![get("/"), get("/")]), engine), quick());
        assert_eq!(counts(&walked), (3, 2, 0), "{told:?}");
        assert!(told.contains(&"> GET / HTTP/1.1 again".to_owned()), "{told:?}");
        let target = Target::start(Script::close_announced(1));
        let (walked, told) = walked_twice(&target, engine);
        assert_eq!(counts(&walked), (2, 2, 0), "{told:?}");
        assert_eq!(target.truth().connections, 2);
    }
}

fn walked_twice(target: &Target, engine: EngineChoice) -> (Walked, Vec<String>) {
    walked(&plan(target, scenario(vec![get("/"), get("/")]), engine), quick())
}

#[test]
fn a_journey_without_end_is_ended() {
    let target = Target::start(shop());
    let mut journey = scenario(vec![get("/"), get("/last")]);
    journey.journey = vec![Action::Repeat(10_000_000, vec![Action::Request(0)])];
    journey.after = vec![Action::Request(1)];
    let plan = plan(&target, journey, EngineChoice::Epoll);
    let (walked, told) = walked(&plan, AloneLimits { sleeps: false, requests_max: 5 });
    assert_eq!(counts(&walked), (5, 5, 0));
    assert_eq!(
        told.iter().filter(|word| *word == "enough 5").count(),
        2,
        "what lies behind is left out, too"
    );
}

#[test]
fn whoever_is_cancelled_stops() {
    let target = Target::start(Script::silence());
    let plan = plan(&target, scenario(vec![get("/"), get("/")]), EngineChoice::Epoll);
    let means = Means::plain(&plan).expect("compiles");
    let heard = || target.truth().requests > 0;
    let mut alone = Alone::new(&plan, &means, Clock::starting_now(), &heard).expect("compiles");
    let walked = alone.scenario(0, &[], &mut |_| ());
    assert_eq!((counts(&walked), walked.early), ((1, 0, 1), Some(Early::Cancelled)));
}

#[test]
fn pauses_are_waited_for_where_that_is_wanted() {
    let target = Target::start(Script::constant(Duration::ZERO));
    let mut journey = scenario(vec![get("/"), get("/")]);
    let pause = Action::Think(Think::Fixed(Nanos::from_millis(120)));
    journey.journey = vec![Action::Request(0), pause, Action::Request(1)];
    let walked = walked(&plan(&target, journey, EngineChoice::Epoll), AloneLimits::default()).0;
    assert_eq!(counts(&walked), (2, 2, 0));
    let apart = target.truth().schedule()[1];
    assert!(apart >= Duration::from_millis(119), "{apart:?}");
}
