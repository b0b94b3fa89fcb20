//! Tests a single user on real sockets: the steps before and after a load, and the events for
//! `try`.

use std::time::Duration;

use crate::support::{engines, plain_plan};
use wavetank_driver::Clock;
use wavetank_engine::{
    EarlyEnd, LoadConfig, RequestCause, SingleUser, SingleUserLimits, TraceEvent, WalkResult,
};
use wavetank_journey::value::{JsonType, Values};
use wavetank_measure::ErrorClass;
use wavetank_plan::{
    Action, Check, CheckSubject, ConnectionOwner, EngineChoice, Escape, Expr, Extract, Hole, OnFailure, Op,
    Operand, Plan, Quantity, Rendezvous, RequestPlan, Scenario, Step, Template, TemplatePart, Test, Think,
};
use wavetank_testkit::{Accept, Script, ScriptAction, Target, answer, answer_with};
use wavetank_units::Nanos;

/// Responds by path: `/login` sets a cookie and returns a token, `/sold` returns a number.
/// `/broken` fails, and `/long` exceeds the size that can be evaluated.
fn shop() -> Script {
    Script::new(|seen| {
        vec![ScriptAction::Send(match seen.path.as_str() {
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
    step.request
        .path
        .pieces
        .push(TemplatePart::Hole(Hole { value: Expr::Variable(slot), escape: Escape::Path }));
    step
}

fn scenario(steps: Vec<Step>) -> Scenario {
    let mut scenario = Scenario::from_steps("s", ConnectionOwner::User, steps);
    scenario.variables = vec!["token".to_owned(), "other".to_owned()];
    scenario
}

fn plan(target: &Target, scenario: Scenario, engine: EngineChoice) -> Plan {
    let mut plan = plain_plan(target.address());
    (plan.engine, plan.http.cookies, plan.scenarios) = (engine, true, vec![scenario]);
    plan
}

/// Returns a short text for each event, in order.
fn word(happened: TraceEvent<'_>) -> String {
    match happened {
        TraceEvent::Step(step) => format!("step {step}"),
        TraceEvent::Opened(_) => "opened".to_owned(),
        TraceEvent::Sent(sent) => {
            let line = sent.bytes.split(|&byte| byte == b'\r').next().unwrap_or_default();
            let cookie =
                if String::from_utf8_lossy(sent.bytes).contains("Cookie: id=7") { " +cookie" } else { "" };
            let again = if sent.why == RequestCause::Retry { " again" } else { "" };
            format!("> {}{cookie}{again}", String::from_utf8_lossy(line))
        }
        TraceEvent::Answered(answer) => format!("< {} {}", answer.status, answer.body_bytes),
        TraceEvent::Unanswered { trouble, .. } => format!("< {}", trouble.class.name()),
        TraceEvent::Cookie(..) => "cookie".to_owned(),
        TraceEvent::Extracted(name, _, found) => format!("{name} {}", found.is_ok()),
        TraceEvent::Checked(check, instead) => format!("{check}: {instead:?}"),
        TraceEvent::Counted(name, holds) => format!("{name} {holds}"),
        TraceEvent::Over(trouble) => trouble.map_or_else(
            || "ok".to_owned(),
            |trouble| format!("{}: {}", trouble.class.name(), trouble.detail),
        ),
        TraceEvent::Set(name, value) => {
            let text = value.first().map(|found| String::from_utf8_lossy(found.text).into_owned());
            format!("{name} = {}", text.unwrap_or_default())
        }
        TraceEvent::Paused(length, slept) => format!("pause {length} {slept}"),
        TraceEvent::Met(name) => format!("met {name}"),
        TraceEvent::Grouped(name, _) => format!("group {name}"),
        TraceEvent::Logged(text) => format!("log {text}"),
        TraceEvent::EndsEarly(early) => format!("ends {early:?}"),
        TraceEvent::Asked(condition, held) => format!("{condition}? {held}"),
        TraceEvent::Endless => "endless".to_owned(),
        TraceEvent::Enough(count) => format!("enough {count}"),
    }
}

/// Runs the only user of the first scenario and returns its events.
fn walked(plan: &Plan, limits: SingleUserLimits) -> (WalkResult, Vec<String>) {
    let means = LoadConfig::plain(plan).expect("a plan that can be compiled");
    let mut events = Vec::new();
    let alone = SingleUser::new(plan, &means, Clock::starting_now(), &|| false).expect("compiles");
    let walked = alone.within(limits).scenario(0, &[], &mut |happened| events.push(word(happened)));
    (walked, events)
}

fn quick() -> SingleUserLimits {
    SingleUserLimits { sleeps: false, ..SingleUserLimits::default() }
}

fn counts(walked: &WalkResult) -> (u64, u64, u64) {
    (walked.sent, walked.done, walked.failed)
}

fn of(subject: &str, op: Op, number: f64) -> Check {
    Check {
        text: format!("{subject} {} {number}", op.sign()),
        subject: CheckSubject::Answer(subject.to_owned()),
        test: Test::Compare(op, vec![Operand::Number(number.into(), Quantity::Bare)]),
    }
}

/// A body that is too long for the load threads is too long for a single user as well. If no step
/// evaluates it, the length does not matter.
#[test]
fn what_is_too_long_to_look_into_is_so_for_him_too() {
    for engine in engines() {
        let target = Target::start(shop());
        let mut looked = get("/long");
        looked.checks = vec![Check {
            text: "body contains x".to_owned(),
            subject: CheckSubject::Answer("body".to_owned()),
            test: Test::Contains(vec!["x".into()]),
        }];
        let mut page = get("/long");
        page.resources = true;
        let (walked, events) =
            walked(&plan(&target, scenario(vec![looked, page, get("/long")]), engine), quick());
        assert_eq!(counts(&walked), (3, 2, 1), "{events:?}");
        let class = walked.failure.map(|failure| failure.trouble.class);
        assert_eq!(class, Some(ErrorClass::BodyLimit), "{events:?}");
    }
}

#[test]
fn everything_on_the_way_is_reported() {
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
            subject: CheckSubject::Value(Template {
                pieces: vec![TemplatePart::Hole(Hole { value: Expr::Variable(1), escape: Escape::Plain })],
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
        let (walked, events) = walked(&plan, quick());
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
        assert_eq!(events, expected, "{engine:?}");
        assert_eq!((counts(&walked), walked.counts.as_slice()), ((2, 2, 0), &[1][..]));
        assert_eq!((walked.early, walked.failure), (Some(EarlyEnd::Session), None));
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
        subject: CheckSubject::Value(Template {
            pieces: vec![TemplatePart::Hole(Hole { value: Expr::Count(0), escape: Escape::Plain })],
        }),
        test: Test::Compare(Op::Equal, vec![Operand::Number(3.0.into(), Quantity::Bare)]),
    }];
    let mut plan = plan(&target, scenario(vec![get_with(0)]), EngineChoice::Epoll);
    plan.shared.counts = vec!["sold".to_owned()];
    plan.around.before = Some(Box::new(scenario(vec![login])));
    plan.around.after = Some(Box::new(scenario(vec![sold])));
    let means = LoadConfig::plain(&plan).expect("compiles");
    let mut alone = SingleUser::new(&plan, &means, Clock::starting_now(), &|| false).expect("compiles");
    let before = alone.before(&mut |_| ());
    let mut token = Values::default();
    assert!(token.push(JsonType::Text, b"t 1"));
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
    assert_eq!(target.truth().for_path("/x/t%201"), 3);
}

/// Runs `steps` against a target of `script`; checks the counts, and the class and text of the
/// first failure.
fn check_failing(script: &Script, steps: &[Step], expected: (u64, u64, u64), class: ErrorClass, words: &str) {
    for engine in engines() {
        let target = Target::start(script.clone());
        let mut plan = plan(&target, scenario(steps.to_vec()), engine);
        plan.http.timeout = Nanos::from_millis(300);
        let (walked, events) = walked(&plan, quick());
        let failure = walked.failure.as_ref().unwrap_or_else(|| panic!("{events:?}"));
        assert_eq!((counts(&walked), failure.trouble.class), (expected, class), "{engine:?} {events:?}");
        assert!(failure.trouble.detail.contains(words), "{failure:?}");
        assert_eq!(target.truth().requests, expected.0, "{engine:?}: the target saw all sent requests");
    }
}

#[test]
fn failures_are_reported_as_what_they_are() {
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
    check_failing(&shop(), &[missing], (1, 0, 1), ErrorClass::Check, "json $.sku: not found in the response");
    let mut checked = get("/sold");
    checked.checks = vec![of("json $.sold", Op::LessEqual, 2.0)];
    check_failing(&shop(), &[checked], (1, 0, 1), ErrorClass::Check, "json $.sold <= 2: found 3");
}

#[test]
fn a_failure_ends_what_the_plan_says() {
    let reported_by = |on_failure| {
        let target = Target::start(shop());
        let mut journey = scenario(vec![get("/broken"), get("/"), get("/last")]);
        journey.journey = vec![Action::Request(0), Action::Request(1)];
        journey.after = vec![Action::Request(2)];
        journey.on_failure = on_failure;
        let walked = walked(&plan(&target, journey, EngineChoice::Epoll), quick()).0;
        (counts(&walked), walked.early)
    };
    assert_eq!(reported_by(OnFailure::Continue), ((3, 2, 1), None));
    assert_eq!(reported_by(OnFailure::EndSession), ((2, 1, 1), Some(EarlyEnd::Failure)));
    assert_eq!(reported_by(OnFailure::EndRun), ((1, 0, 1), Some(EarlyEnd::Run)));
    let target = Target::start(shop());
    let mut plan = plan(&target, scenario(vec![get("/")]), EngineChoice::Epoll);
    plan.around.before = Some(Box::new(scenario(vec![get("/broken"), get("/")])));
    let means = LoadConfig::plain(&plan).expect("compiles");
    let mut alone = SingleUser::new(&plan, &means, Clock::starting_now(), &|| false).expect("compiles");
    let before = alone.before(&mut |_| ());
    assert_eq!((counts(&before), before.early), ((1, 0, 1), Some(EarlyEnd::Failure)), "nothing after it");
}

#[test]
fn a_connection_that_was_closed_meanwhile_is_opened_again() {
    for engine in engines() {
        let target = Target::start(Script::close_before_request(1));
        let (walked, events) = walked(&plan(&target, scenario(vec![get("/"), get("/")]), engine), quick());
        assert_eq!(counts(&walked), (3, 2, 0), "{events:?}");
        assert!(events.contains(&"> GET / HTTP/1.1 again".to_owned()), "{events:?}");
        let target = Target::start(Script::close_announced(1));
        let (walked, events) = walked_twice(&target, engine);
        assert_eq!(counts(&walked), (2, 2, 0), "{events:?}");
        assert_eq!(target.truth().connections, 2);
    }
}

fn walked_twice(target: &Target, engine: EngineChoice) -> (WalkResult, Vec<String>) {
    walked(&plan(target, scenario(vec![get("/"), get("/")]), engine), quick())
}

#[test]
fn a_journey_without_end_is_ended() {
    let target = Target::start(shop());
    let mut journey = scenario(vec![get("/"), get("/last")]);
    journey.journey = vec![Action::Repeat(10_000_000, vec![Action::Request(0)])];
    journey.after = vec![Action::Request(1)];
    let plan = plan(&target, journey, EngineChoice::Epoll);
    let (walked, events) = walked(&plan, SingleUserLimits { sleeps: false, requests_max: 5 });
    assert_eq!(counts(&walked), (5, 5, 0));
    assert_eq!(
        events.iter().filter(|word| *word == "enough 5").count(),
        2,
        "later requests are left out, too"
    );
}

#[test]
fn a_cancelled_user_stops() {
    let target = Target::start(Script::silence());
    let plan = plan(&target, scenario(vec![get("/"), get("/")]), EngineChoice::Epoll);
    let means = LoadConfig::plain(&plan).expect("compiles");
    let heard = || target.truth().requests > 0;
    let mut alone = SingleUser::new(&plan, &means, Clock::starting_now(), &heard).expect("compiles");
    let walked = alone.scenario(0, &[], &mut |_| ());
    assert_eq!((counts(&walked), walked.early), ((1, 0, 1), Some(EarlyEnd::Cancelled)));
}

#[test]
fn pauses_are_waited_for_where_that_is_wanted() {
    let target = Target::start(Script::constant(Duration::ZERO));
    let mut journey = scenario(vec![get("/"), get("/")]);
    let pause = Action::Think(Think::Fixed(Nanos::from_millis(120)));
    journey.journey = vec![Action::Request(0), pause, Action::Request(1)];
    let walked = walked(&plan(&target, journey, EngineChoice::Epoll), SingleUserLimits::default()).0;
    assert_eq!(counts(&walked), (2, 2, 0));
    let apart = target.truth().schedule()[1];
    assert!(apart >= Duration::from_millis(119), "{apart:?}");
}
