//! Journeys walked by hand: what a session wants next, and what it holds.

use wavetank_journey::extract::{ParseCache, ResponseView};
use wavetank_journey::value::Values;
use wavetank_journey::{
    Identity, Journey, Rejection, RenderContext, RenderError, Session, SessionAction, SessionEvent,
};
use wavetank_pace::Partition;
use wavetank_plan::{
    Action, Check, CheckSubject, Choice, ConnectionOwner, Escape, Expr, Extract, Hole, Op, Operand, Plan,
    Quantity, RequestPlan, Scenario, Step, TargetUrl, Template, TemplatePart, Test, Think,
};
use wavetank_units::Nanos;

const SEED: u64 = 7;

/// A scenario with steps `a`, `b`, `c` and variables `v`, `list`, `item`.
fn scenario(journey: Vec<Action>) -> Scenario {
    let request = |name: &str| RequestPlan {
        method: "GET".to_owned(),
        path: format!("/{name}").as_str().into(),
        ..RequestPlan::default()
    };
    let steps = ["a", "b", "c"].map(|name| Step::plain(name, 0, request(name)));
    let mut scenario = Scenario::from_steps("s", ConnectionOwner::User, steps.into());
    scenario.variables = ["v", "list", "item"].map(str::to_owned).into();
    scenario.journey = journey;
    scenario
}

fn plan() -> Plan {
    let url = TargetUrl::parse("http://localhost:8080/").expect("a good URL");
    let addresses = ["127.0.0.1:8080".parse().expect("a good address")];
    let mut plan = Plan::for_tests(&url, &addresses);
    plan.http.cookies = true;
    plan
}

/// A user that walks through a journey and answers every request.
struct Walker {
    journey: Journey,
    session: Session,
    reported: Vec<SessionEvent>,
    counted: Vec<u16>,
    memory: (u64, Vec<u8>, ParseCache, Values),
}

impl Walker {
    fn new(scenario: &Scenario) -> Self {
        let journey = Journey::new(scenario, &plan()).expect("a good journey");
        let mut session = Session::default();
        session.begin(Identity::for_arrival(0, 42));
        Self { journey, session, reported: Vec::new(), counted: Vec::new(), memory: Default::default() }
    }

    fn scene(
        &mut self,
    ) -> (RenderContext<'_>, &mut Session, &Journey, &mut Vec<SessionEvent>, &mut Vec<u16>) {
        let (seq, scratch, reading, finds) = &mut self.memory;
        let scene = RenderContext {
            seed: SEED,
            tables: &[],
            data: &[],
            wall_ms: 1_700_000_000_000,
            share: Partition::WHOLE,
            seq,
            counts: &[3],
            scratch,
            reading,
            finds,
        };
        (scene, &mut self.session, &self.journey, &mut self.reported, &mut self.counted)
    }

    fn next(&mut self) -> SessionAction {
        let (mut scene, session, journey, reported, _) = self.scene();
        session.advance(&journey.session, &mut scene, Nanos(5), reported)
    }

    fn render(&mut self, step: usize) -> Result<String, RenderError> {
        let (mut scene, session, journey, ..) = self.scene();
        let mut out = Vec::new();
        let step = &journey.steps[step];
        if !step.render(&mut scene, session, &mut out)? {
            out.extend_from_slice(step.as_fixed().expect("fixed bytes"));
        }
        Ok(String::from_utf8(out).expect("text"))
    }

    fn answer(&mut self, step: usize, status: u16, fields: &str, body: &str) -> Result<(), Rejection> {
        let (mut scene, session, journey, _, counted) = self.scene();
        let (time, size) = (Nanos::from_millis(1_500), body.len() as u64);
        let (fields, body) = (fields.as_bytes(), body.as_bytes());
        let answer = ResponseView { status, time, size, fields, body, jar: None };
        journey.steps[step].apply(&mut scene, session, &answer, counted)
    }

    /// The names of the steps until the end, each answered by 200 and `body`.
    fn walk(&mut self, body: &str) -> String {
        let mut names = Vec::new();
        for _ in 0..10_000 {
            match self.next() {
                SessionAction::Request(step) => {
                    names.push(self.journey.steps[usize::from(step)].name.clone());
                    // What it finds is another test's.
                    let _ = self.answer(usize::from(step), 200, "", body);
                }
                SessionAction::Pause(length) => names.push(format!("({length})")),
                SessionAction::Wait(place) => names.push(format!("<{}>", place.place)),
                SessionAction::GiveWay => names.push(".".to_owned()),
                SessionAction::End { run } => {
                    names.extend(run.then(|| "!".to_owned()));
                    return names.concat();
                }
            }
        }
        panic!("the session does not end: {names:?}");
    }
}

fn check(journey: &[Action], steps: &str) {
    let mut walker = Walker::new(&scenario(journey.to_vec()));
    assert_eq!(walker.walk("[1,2,3]"), steps, "{journey:?}");
}

const A: Action = Action::Request(0);
const B: Action = Action::Request(1);
const C: Action = Action::Request(2);

fn of(subject: &str, op: Op, number: f64) -> Check {
    Check {
        text: format!("{subject} {} {number}", op.sign()),
        subject: CheckSubject::Answer(subject.to_owned()),
        test: Test::Compare(op, vec![Operand::Number(number.into(), Quantity::Bare)]),
    }
}

fn hole(value: Expr, escape: Escape) -> Template {
    Template { pieces: vec![TemplatePart::Hole(Hole { value, escape })] }
}

fn of_variable(slot: u16, op: Op, text: &str) -> Check {
    Check {
        text: String::new(),
        subject: CheckSubject::Value(hole(Expr::Variable(slot), Escape::Plain)),
        test: Test::Compare(op, vec![Operand::Text(text.into())]),
    }
}

#[test]
fn steps_come_as_they_are_written() {
    check(&[], "");
    check(&[A, B, C], "abc");
    check(&[A, Action::Think(Think::Fixed(Nanos::from_secs(2))), B], "a(2.00 s)b");
    check(&[A, Action::Think(Think::Fixed(Nanos::ZERO)), B], "ab");
    check(&[A, Action::EndSession, B], "a");
    check(&[A, Action::EndRun, B], "a!");
}

#[test]
fn loops_go_round_as_often_as_they_say() {
    check(&[Action::Repeat(3, vec![A, B]), C], "abababc");
    check(&[Action::Repeat(0, vec![A]), C], "c");
    check(&[Action::Repeat(2, vec![Action::Repeat(2, vec![A]), B])], "aabaab");
    let ten = || Box::new(of("status", Op::Equal, 200.0));
    check(&[A, Action::While { check: ten(), at_most: 2, steps: vec![B] }, C], "abbc");
    let never = Box::new(of("status", Op::Equal, 500.0));
    check(&[A, Action::While { check: never, at_most: 9, steps: vec![B] }, C], "ac");
}

#[test]
fn a_loop_that_does_nothing_gives_way() {
    let mut walker = Walker::new(&scenario(vec![Action::Repeat(1_000_000, vec![]), A]));
    assert_eq!(walker.next(), SessionAction::GiveWay);
    assert_eq!(walker.next(), SessionAction::GiveWay);
}

#[test]
fn ways_are_chosen() {
    let set = |text: &str| Action::Set(0, text.into());
    let either = |text: &str| Action::If {
        check: Box::new(of_variable(0, Op::Equal, text)),
        then: vec![A],
        otherwise: vec![B],
    };
    check(&[set("x"), either("x"), C], "ac");
    check(&[set("y"), either("x"), C], "bc");
    check(&[either("x"), C], "bc");
    let only =
        Action::If { check: Box::new(of_variable(0, Op::Equal, "x")), then: vec![A], otherwise: vec![] };
    check(&[only.clone(), C], "c");
    check(&[set("x"), only, C], "ac");
    let none = |weight| Choice { weight, steps: vec![B] };
    check(&[Action::Choose(vec![none(0), Choice { weight: 5, steps: vec![A] }, none(0)]), C], "ac");
}

#[test]
fn ways_are_chosen_by_weight() {
    let ways = vec![Choice { weight: 70, steps: vec![A] }, Choice { weight: 30, steps: vec![B] }];
    let mut walker = Walker::new(&scenario(vec![Action::Repeat(5_000, vec![Action::Choose(ways)])]));
    let steps = walker.walk("");
    let share = steps.matches('a').count() as f64 / steps.matches(['a', 'b']).count() as f64;
    assert!((0.68..0.72).contains(&share), "{share}");
}

#[test]
fn lists_are_gone_through() {
    let mut listed = scenario(vec![A, Action::Each { list: 1, name: 2, steps: vec![B] }, C]);
    let from = |from: &str, all| vec![Extract { variable: 1, from: from.to_owned(), all }];
    listed.steps[0].extract = from("json $[*]", true);
    listed.steps[1].request.path = hole(Expr::Variable(2), Escape::Path);
    assert_eq!(Walker::new(&listed).walk("[1,2,3]"), "abbbc");
    assert_eq!(Walker::new(&listed).walk("[]"), "ac");
    listed.steps[0].extract = from("json $", false);
    assert_eq!(Walker::new(&listed).walk("[1,\"x\"]"), "abbc", "an array is a list");
    assert_eq!(Walker::new(&listed).walk("17"), "abc", "one value is a list of one");
}

#[test]
fn what_was_extracted_goes_out_as_what_it_was() {
    let mut shop = scenario(vec![A, B]);
    shop.steps[0].extract = vec![Extract { variable: 0, from: "json $.sku".to_owned(), all: false }];
    let mut body = Template::from("{\"sku\":");
    body.pieces.push(TemplatePart::Hole(Hole { value: Expr::Variable(0), escape: Escape::JsonValue }));
    body.push_fixed(b"}");
    shop.steps[1].request.method = "POST".to_owned();
    shop.steps[1].request.body = body;
    for (found, sent) in [("17", "17"), ("\"a\\\"b\"", "\"a\\\"b\""), ("true", "true"), ("[1,2]", "[1,2]")] {
        let mut walker = Walker::new(&shop);
        assert_eq!(walker.answer(0, 200, "", &format!("{{\"sku\": {found}}}")), Ok(()));
        let request = walker.render(1).unwrap();
        let body = format!("{{\"sku\":{sent}}}");
        let length = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        assert!(request.starts_with("POST /b HTTP/1.1\r\nHost: localhost:8080\r\n"), "{request}");
        assert!(request.ends_with(&length), "{request}");
    }
}

#[test]
fn a_list_goes_out_as_an_array() {
    let mut shop = scenario(vec![A, B]);
    let from = "json $[*]".to_owned();
    shop.steps[0].extract = vec![Extract { variable: 0, from, all: true }];
    shop.steps[1].request.body = hole(Expr::Variable(0), Escape::JsonValue);
    for found in ["[1,\"x\",true]", "[7]"] {
        let mut walker = Walker::new(&shop);
        assert_eq!(walker.answer(0, 200, "", found), Ok(()));
        let request = walker.render(1).unwrap();
        assert!(request.ends_with(&format!("\r\n\r\n{found}")), "{request}");
    }
}

#[test]
fn what_is_lacking_is_not_sent() {
    let mut lacking = scenario(vec![A]);
    lacking.steps[0].request.path = hole(Expr::Variable(0), Escape::Path);
    assert_eq!(Walker::new(&lacking).render(0), Err(RenderError::Variable(0)));
    let mut split = scenario(vec![A]);
    let value = Expr::Text("a\r\nEvil: yes".to_owned());
    split.steps[0].request.headers = vec![("X".to_owned(), hole(value, Escape::Header))];
    assert_eq!(Walker::new(&split).render(0), Err(RenderError::Header));
}

#[test]
fn a_whole_address_keeps_its_delimiters_and_must_be_a_path() {
    let render = |text: &str| {
        let mut whole = scenario(vec![A]);
        whole.steps[0].request.path = hole(Expr::Text(text.to_owned()), Escape::Address);
        Walker::new(&whole).render(0)
    };
    let sent = render("/page/2?sort=a&b c#top").expect("it is a path");
    assert!(sent.starts_with("GET /page/2?sort=a&b%20c HTTP/1.1\r\n"), "{sent}");
    for text in ["", "page", "http://a.org/"] {
        assert_eq!(render(text), Err(RenderError::Address), "{text}");
    }
}

#[test]
fn cookies_go_back_to_who_set_them() {
    let mut walker = Walker::new(&scenario(vec![A, B]));
    assert!(!walker.render(1).unwrap().contains("Cookie"));
    walker.answer(0, 200, "Set-Cookie: id=7; Path=/\r\nSet-Cookie: far=1; Path=/far\r\n", "").unwrap();
    let request = walker.render(1).unwrap();
    assert!(request.contains("\r\nCookie: id=7\r\n\r\n"), "{request}");
}

#[test]
fn checks_fail_requests_and_say_what_stood_there() {
    let mut checked = scenario(vec![A]);
    checked.steps[0].checks = vec![of("status", Op::Equal, 200.0), of("json $.sold", Op::LessEqual, 10.0)];
    checked.steps[0].counts = vec![(4, of("json $.sold", Op::Equal, 10.0))];
    let answer = |status, body: &str| {
        let mut walker = Walker::new(&checked);
        (walker.answer(0, status, "", body), walker.counted)
    };
    assert_eq!(answer(200, "{\"sold\": 10}"), (Ok(()), vec![4]));
    assert_eq!(answer(200, "{\"sold\": 11}").0, Err(Rejection::Check(1, "11".to_owned())));
    assert_eq!(answer(200, "{}").0, Err(Rejection::Check(1, "nothing".to_owned())));
    assert_eq!(answer(404, "{\"sold\": 1}").0, Err(Rejection::Check(0, "404".to_owned())));
    // Without a check of its own the status is the default's business.
    assert_eq!(Walker::new(&scenario(vec![A])).answer(0, 404, "", ""), Err(Rejection::Status));
}

#[test]
fn times_are_compared_in_their_unit() {
    let mut timed = scenario(vec![A]);
    let below = |limit: f64| Check {
        test: Test::Compare(Op::Less, vec![Operand::Number(limit.into(), Quantity::Time)]),
        ..of("time", Op::Less, 0.0)
    };
    timed.steps[0].checks = vec![below(2e9)];
    assert_eq!(Walker::new(&timed).answer(0, 200, "", ""), Ok(()));
    timed.steps[0].checks = vec![below(1e9)];
    assert!(matches!(Walker::new(&timed).answer(0, 200, "", ""), Err(Rejection::Check(0, _))));
}

#[test]
fn groups_and_logs_are_reported() {
    let mut walker = Walker::new(&scenario(vec![
        Action::Group(0, vec![A, Action::Log("in it".into())]),
        Action::Log(hole(Expr::Session, Escape::Plain)),
    ]));
    assert_eq!(walker.walk(""), "a");
    let log = |text: &str| SessionEvent::Log(text.to_owned());
    assert_eq!(walker.reported, [log("in it"), SessionEvent::Group(0, Nanos(5), Nanos(5)), log("42")]);
}

#[test]
fn the_same_session_draws_the_same() {
    let drawn = |session| {
        let drawn = vec![A, Action::Think(Think::Even { from: Nanos(1), to: Nanos::from_secs(9) })];
        let mut walker = Walker::new(&scenario(drawn));
        walker.session.begin(Identity::for_arrival(0, session));
        walker.walk("")
    };
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
}
