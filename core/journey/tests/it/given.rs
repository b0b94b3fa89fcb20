//! Variables that the run's `before` sets exist in every session, and the observer of a step
//! receives every observation.

use wavetank_journey::extract::{ExtractError, ParseCache, ResponseView};
use wavetank_journey::value::{JsonType, Values};
use wavetank_journey::{Identity, Journey, Observation, RenderContext, RenderError, Session, SessionAction};
use wavetank_pace::Partition;
use wavetank_plan::{
    Action, Check, CheckSubject, ConnectionOwner, Escape, Expr, Extract, Hole, Op, Operand, Plan, Quantity,
    RequestPlan, Scenario, Step, TargetUrl, Template, TemplatePart, Test,
};
use wavetank_units::Nanos;

fn plan() -> Plan {
    let url = TargetUrl::parse("http://localhost:8080/").expect("a good URL");
    let addresses = ["127.0.0.1:8080".parse().expect("a good address")];
    Plan::for_tests(&url, &addresses)
}

/// A scenario that sends `/${token}` and knows a variable `own` too.
fn scenario() -> Scenario {
    let hole = Hole { value: Expr::Variable(1), escape: Escape::Path };
    let mut path = Template::from("/");
    path.pieces.push(TemplatePart::Hole(hole));
    let request = RequestPlan { method: "GET".to_owned(), path, ..RequestPlan::default() };
    let mut scenario = Scenario::from_steps("", ConnectionOwner::User, vec![Step::plain("a", 0, request)]);
    scenario.variables = vec!["own".to_owned(), "token".to_owned()];
    scenario
}

fn value(text: &str) -> Values {
    let mut value = Values::default();
    assert!(value.push(JsonType::Text, text.as_bytes()));
    value
}

/// Call `work` with a scene.
fn on_scene<R>(work: impl FnOnce(&mut RenderContext<'_>) -> R) -> R {
    let (mut seq, mut scratch, mut reading, mut finds) =
        (0, Vec::new(), ParseCache::default(), Values::default());
    work(&mut RenderContext {
        seed: 7,
        tables: &[],
        data: &[],
        wall_ms: 0,
        share: Partition::WHOLE,
        seq: &mut seq,
        counts: &[],
        scratch: &mut scratch,
        reading: &mut reading,
        finds: &mut finds,
    })
}

/// The request line of the first step, of a session that has gone through the journey until then.
fn sent(journey: &Journey, session: &mut Session) -> Result<String, RenderError> {
    on_scene(|scene| {
        session.begin(Identity::for_arrival(0, 1));
        assert_eq!(
            session.advance(&journey.session, scene, Nanos(0), &mut Vec::new()),
            SessionAction::Request(0)
        );
        let mut out = Vec::new();
        journey.steps[0].render(scene, session, &mut out)?;
        let text = String::from_utf8(out).expect("text");
        Ok(text.lines().next().unwrap_or_default().to_owned())
    })
}

#[test]
fn what_is_given_by_name_is_there() {
    let mut journey = Journey::new(&scenario(), &plan()).expect("a good journey");
    let mut none = Session::default();
    journey.init_session(&mut none);
    assert_eq!(sent(&journey, &mut none), Err(RenderError::Variable(1)));
    journey.set_initial_variables(&[
        ("token".to_owned(), value("old")),
        ("elsewhere".to_owned(), value("x")),
        ("token".to_owned(), value("t 1")),
    ]);
    for _ in 0..2 {
        let mut session = Session::default();
        journey.init_session(&mut session);
        assert_eq!(sent(&journey, &mut session).as_deref(), Ok("GET /t%201 HTTP/1.1"));
        assert!(session.variable(0).is_none(), "the other scenario has no initial variables");
    }
}

#[test]
fn what_a_session_sets_itself_is_its_own() {
    let mut own = scenario();
    own.journey = vec![Action::Request(0), Action::Set(1, "mine".into())];
    let mut journey = Journey::new(&own, &plan()).expect("a good journey");
    journey.set_initial_variables(&[("token".to_owned(), value("given"))]);
    let (mut one, mut other) = (Session::default(), Session::default());
    journey.init_session(&mut one);
    journey.init_session(&mut other);
    assert_eq!(sent(&journey, &mut one).as_deref(), Ok("GET /given HTTP/1.1"));
    on_scene(|scene| one.advance(&journey.session, scene, Nanos(0), &mut Vec::new()));
    assert_eq!(sent(&journey, &mut one).as_deref(), Ok("GET /mine HTTP/1.1"));
    assert_eq!(sent(&journey, &mut other).as_deref(), Ok("GET /given HTTP/1.1"));
}

#[test]
fn one_operation_at_a_time_has_the_same_result() {
    let mut long = scenario();
    long.journey = vec![Action::Repeat(3, vec![Action::Set(0, "x".into())]), Action::Request(0)];
    let journey = Journey::new(&long, &plan()).expect("a good journey");
    let mut session = Session::default();
    session.begin(Identity::for_arrival(0, 1));
    let mut steps = 0;
    let next = on_scene(|scene| {
        loop {
            steps += 1;
            match session.advance_by(1, &journey.session, scene, Nanos(0), &mut Vec::new()) {
                SessionAction::GiveWay => {}
                next => break next,
            }
        }
    });
    assert_eq!(next, SessionAction::Request(0));
    assert!(steps > 6, "{steps}");
}

#[test]
fn a_watcher_receives_every_event() {
    let of = |subject: &str, number: f64| Check {
        text: subject.to_owned(),
        subject: CheckSubject::Answer(subject.to_owned()),
        test: Test::Compare(Op::Equal, vec![Operand::Number(number.into(), Quantity::Bare)]),
    };
    let mut scenario = scenario();
    let from = |variable, from: &str| Extract { variable, from: from.to_owned(), all: false };
    scenario.steps[0].extract = vec![from(0, "json $.a"), from(1, "json $.b")];
    scenario.steps[0].checks = vec![of("json $.a", 1.0), of("json $.a", 2.0), of("json $.b", 3.0)];
    scenario.steps[0].counts = vec![(4, of("status", 200.0)), (5, of("status", 500.0))];
    let journey = Journey::new(&scenario, &plan()).expect("a good journey");
    let mut session = Session::default();
    session.begin(Identity::for_arrival(0, 1));
    let (mut reported, mut counted) = (Vec::new(), Vec::new());
    let (fields, body): (&[u8], &[u8]) = (b"", b"{\"a\": 1}");
    let answer = ResponseView { status: 200, time: Nanos(1), size: 8, fields, body, jar: None };
    let mut watch = |look: Observation<'_>| {
        reported.push(match look {
            Observation::Cookie(..) => "cookie".to_owned(),
            Observation::Extract(place, Ok(found)) => format!("{place}: {} found", found.len()),
            Observation::Extract(place, Err(miss)) => format!("{place}: {miss:?}"),
            Observation::Check(place, instead) => format!("{place} {instead:?}"),
            Observation::Count(count, holds) => format!("{count} {holds}"),
        });
    };
    let taken = on_scene(|scene| {
        journey.steps[0].apply_observed(scene, &mut session, &answer, &mut counted, &mut watch)
    });
    assert!(taken.is_err());
    let missing = format!("1: {:?}", ExtractError::NotFound);
    let expected =
        ["0: 1 found", &missing, "0 None", "1 Some(\"1\")", "2 Some(\"nothing\")", "4 true", "5 false"];
    assert_eq!(reported, expected);
    assert_eq!(counted, [4]);
}
