//! Plan packages: everything comes back, and bytes from elsewhere cause errors alone.

use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6};

use proptest::prelude::*;
use wavetank_plan::{
    Action, AuthPlan, Check, CheckSubject, Choice, DataPlan, Escape, Expr, Extract, Hole, HooksPlan,
    JsonType, Load, OnFailure, Op, Operand, PickOrder, Plan, PlannedEvent, PopulationCurve, ProxyPlan,
    ProxyProtocol, Quantity, RateCurve, Rendezvous, RowChoice, Scenario, ScenarioMix, Secret, SharedPlan,
    Table, TableBuilder, TargetSelection, Template, TemplatePart, Test, Think,
};
use wavetank_record::PlanPackage;
use wavetank_units::{Nanos, Number, Rate, unix_address, unix_path};

use crate::support;

/// Bytes before the content: magic, version with its length, checksum.
fn header_length() -> usize {
    8 + 1 + env!("CARGO_PKG_VERSION").len() + 32
}

fn package(plan: Plan, tables: Vec<Table>) -> PlanPackage {
    PlanPackage {
        plan,
        tables,
        automatic_threads: true,
        automatic_engine: false,
        checks_reach: true,
        samples_hosts: true,
        variables: Vec::new(),
        sources: Vec::new(),
    }
}

#[track_caller]
fn check(package: &PlanPackage) {
    let bytes = package.encode().expect("is small");
    assert_eq!(PlanPackage::decode(&bytes).as_ref(), Ok(package));
}

#[track_caller]
fn check_refused(bytes: &[u8], reason: &str) {
    let error = PlanPackage::decode(bytes).expect_err(reason).to_string();
    assert!(error.starts_with("cannot read the plan package: ") && error.contains(reason), "{error}");
}

fn hole(value: Expr, escape: Escape) -> TemplatePart {
    TemplatePart::Hole(Hole { value, escape })
}

/// A template with every kind of value.
fn template() -> Template {
    let secret = Expr::Secret { name: "PASSWORD".to_owned(), value: Secret::new("planted") };
    let joined =
        Template { pieces: vec![TemplatePart::Fixed(vec![0, 255, 7]), hole(Expr::User, Escape::Plain)] };
    let pieces = vec![
        TemplatePart::Fixed(b"\xff\x00body".to_vec()),
        hole(Expr::Text("a".to_owned()), Escape::JsonText),
        hole(Expr::Variable(3), Escape::JsonValue),
        hole(Expr::Column { data: 0, column: 1 }, Escape::Form),
        hole(Expr::Count(0), Escape::Path),
        hole(Expr::Pick(vec![Expr::Session, Expr::Now, Expr::Seq, Expr::Uuid]), Escape::Address),
        hole(Expr::Random(i64::MIN, i64::MAX), Escape::Header),
        hole(Expr::HmacSha256(Box::new(secret), Box::new(Expr::Base64(Box::new(Expr::User)))), Escape::Plain),
        hole(Expr::Joined(Box::new(joined)), Escape::Plain),
    ];
    Template { pieces }
}

fn checks() -> Vec<Check> {
    let check = |text: &str, subject, test| Check { text: text.to_owned(), subject, test };
    let numbers = vec![
        Operand::Number(Number::Whole(i128::MIN), Quantity::Bare),
        Operand::Range(Number::Real(0.1), Number::Whole(7), Quantity::Time),
        Operand::Number(Number::Real(1e300), Quantity::Size),
        Operand::Text(template()),
    ];
    vec![
        check("a", CheckSubject::Answer("json $.a".to_owned()), Test::Compare(Op::NotEqual, numbers)),
        check("b", CheckSubject::Value(template()), Test::Contains(vec![template()])),
        check("c", CheckSubject::Value(Template::default()), Test::Matches(vec!["^x$".to_owned()])),
    ]
}

/// Actions of every kind.
fn actions() -> Vec<Action> {
    let (ms, boxed) = (Nanos::from_millis, || Box::new(checks().remove(0)));
    vec![
        Action::Think(Think::Fixed(ms(1))),
        Action::Think(Think::Even { from: ms(1), to: ms(2) }),
        Action::Think(Think::Exponential { mean: ms(3) }),
        Action::Think(Think::Normal { mean: ms(3), deviation: ms(1) }),
        Action::Think(Think::Lognormal { median: ms(3), p95: ms(9) }),
        Action::Group(0, vec![Action::Request(0)]),
        Action::Repeat(u64::MAX, vec![Action::Log(template())]),
        Action::While { check: boxed(), at_most: 5, steps: vec![Action::EndRun] },
        Action::If { check: boxed(), then: vec![Action::EndSession], otherwise: Vec::new() },
        Action::Each { list: 1, name: 2, steps: Vec::new() },
        Action::Choose(vec![Choice { weight: 9, steps: vec![Action::Set(3, template())] }]),
        Action::Rendezvous(Rendezvous { place: 0, wait: ms(50), of: Some(10) }),
    ]
}

/// A plan with every kind of part, and its rows.
fn everything() -> PlanPackage {
    let mut plan = support::plan();
    let zoned = SocketAddrV6::new(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1), 80, 5, 3);
    let addresses: Vec<SocketAddr> =
        vec![zoned.into(), unix_address("unix:/run/app.sock").expect("a socket")];
    let authorization = Some(Secret::new("Basic planted"));
    plan.http.proxy =
        Some(ProxyPlan { url: "http://p:1".to_owned(), addresses: addresses.clone(), authorization });
    plan.http.proxy_protocol = Some(ProxyProtocol::V2);
    plan.http.dns.as_mut().expect("has names").unreached.clone_from(&addresses);
    let mix = ScenarioMix::new(vec![(0, 3), (1, u64::MAX - 3)]).expect("a mix");
    let of = ScenarioMix::new(vec![(0, 7)]).expect("a mix");
    plan.targets[0].pick = Some(TargetSelection { order: PickOrder::Random, of });
    plan.targets[0].tls = plan.tls.clone().map(Box::new);
    plan.targets[0].addresses.extend(addresses);
    let step = &mut plan.scenarios[0].steps[0];
    step.request.body = template();
    step.auth = Some(AuthPlan::Digest(template(), template()));
    step.extract = vec![Extract { variable: 3, from: "css h1".to_owned(), all: true }];
    step.checks = checks();
    step.counts = vec![(0, checks().remove(1))];
    step.on_failure = Some(OnFailure::EndRun);
    let lists =
        Scenario { before: actions(), journey: actions(), after: actions(), ..plan.scenarios[0].clone() };
    plan.around = HooksPlan { before: Some(Box::new(lists.clone())), after: Some(Box::new(lists.clone())) };
    plan.scenarios.push(lists);
    let length = Nanos::from_secs(60);
    let wave = RateCurve::wave(Rate::per_second(0), Rate::per_second(5), Nanos::from_secs(7), length);
    let stairs = PopulationCurve::stairs(0, 300, 50, Nanos::from_secs(10), Nanos::from_secs(2));
    let loads = [
        Load::Trace { times: [0, 5, 5, 1_000].map(Nanos).into() },
        Load::Hold { connections: stairs.expect("stairs"), sessions_each: Some(1) },
        Load::Pause,
    ];
    if let Load::Open { rate, .. } = &mut plan.phases[1].load {
        *rate = wave.expect("a wave");
    }
    let main = plan.phases[1].clone();
    plan.phases.extend(loads.map(|load| wavetank_plan::Phase { load, mix: mix.clone(), ..main.clone() }));
    plan.shared = SharedPlan {
        data: vec![DataPlan {
            name: "users".to_owned(),
            file: None,
            row: RowChoice::Unique,
            columns: vec!["name".to_owned(), "age".to_owned()],
            rows: 2,
            sha256: "abc".to_owned(),
        }],
        counts: vec!["sold".to_owned()],
        rendezvous: vec!["doors".to_owned()],
        descriptors: vec![wavetank_plan::DescriptorSet(vec![10, 0, 255])],
    };
    let (when, lasts) = (Nanos::from_secs(-1), Some(Nanos::SECOND));
    let run = "fault kill serve".to_owned();
    plan.events = vec![PlannedEvent { when, host: "lb1".to_owned(), run, undo: None, lasts }];
    package(plan, vec![table()])
}

fn table() -> Table {
    let mut builder = TableBuilder::new("users", &["name", "age"]).expect("two columns");
    for (kind, text) in
        [(JsonType::Text, "ü"), (JsonType::Number, "7"), (JsonType::Null, "null"), (JsonType::Json, "[1]")]
    {
        builder.push(kind, text).expect("is short");
    }
    builder.finish().expect("two rows")
}

#[test]
fn everything_comes_back() {
    check(&package(support::plan(), Vec::new()));
    let all = everything();
    check(&all);
    let read = PlanPackage::decode(&all.encode().expect("is small")).expect("is read");
    assert_eq!(unix_path(read.plan.targets[0].addresses[3]), Some("/run/app.sock"));
    assert_eq!(format!("{read:?}").matches("planted").count(), 0, "secrets stay out of debug output");
}

#[test]
fn other_bytes_are_refused_with_a_reason() {
    let good = everything().encode().expect("is small");
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    check_refused(b"", "does not begin as one");
    check_refused(b"wavetank_plan: 1\n", "does not begin as one");
    check_refused(&good[..8], "ends too early");
    check_refused(&good[..12], "ends too early");
    check_refused(&good[..header_length() - 1], "ends too early");
    check_refused(&changed(9, b'9'), "is from version 9");
    check_refused(&changed(9, b'\x1b'), "install the same version on all hosts");
    check_refused(&changed(good.len() - 1, 9), "damaged on its way");
    check_refused(&good[..good.len() - 1], "damaged on its way");
    check_refused(&[good.as_slice(), b"x"].concat(), "damaged on its way");
}

#[test]
fn parts_belong_together() {
    #[track_caller]
    fn check(reason: &str, change: fn(&mut PlanPackage)) {
        let mut package = everything();
        change(&mut package);
        check_refused(&package.encode().expect("is small"), reason);
    }
    let rows = "its rows are not those of its plan";
    check(rows, |package| package.tables.clear());
    check(rows, |package| package.tables.push(table()));
    check(rows, |package| package.plan.shared.data[0].rows = 3);
    check(rows, |package| package.plan.shared.data[0].columns[0].push('x'));
    let parts = "it refers to a target or scenario that it does not have";
    check(parts, |package| package.plan.phases[0].mix = ScenarioMix::one(2));
    check(parts, |package| package.plan.scenarios[1].steps[0].target = 1);
    check(parts, |package| package.plan.around.after.as_mut().expect("is there").steps[0].target = 1);
    check(parts, |package| package.plan.targets[0].pick.as_mut().expect("is there").of = ScenarioMix::one(1));
}

/// Nesting up to the limit fits the stack of any thread, and nesting beyond it is an error.
#[test]
fn nesting_is_bounded() {
    let nested = |levels: usize| {
        let journey = (0..levels).fold(Vec::new(), |inner, _| vec![Action::Group(0, inner)]);
        let mut plan = support::plan();
        plan.scenarios[0].journey = journey;
        package(plan, Vec::new())
    };
    check(&nested(96));
    check_refused(&nested(97).encode().expect("is small"), "nested too deeply");
    check_refused(&nested(2_000).encode().expect("is small"), "nested too deeply");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(PlanPackage::decode(&bytes).is_err());
        // The content alone may be a plan, however unlikely that is.
        drop(PlanPackage::decode_content(&bytes));
    }

    /// A package that is read in spite of its changes is one that comes back unchanged.
    #[test]
    fn changed_content_never_panics(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 1..6),
    ) {
        let mut content = everything().encode().expect("is small").split_off(header_length());
        for (at, byte, kind) in changes {
            if content.is_empty() {
                break;
            }
            let at = at.index(content.len());
            match kind {
                0 => content[at] = byte,
                1 => content.insert(at, byte),
                2 => drop(content.remove(at)),
                _ => content.truncate(at.max(1)),
            }
        }
        if let Ok(package) = PlanPackage::decode_content(&content) {
            let again = PlanPackage::decode(&package.encode().expect("is small"));
            prop_assert_eq!(format!("{:?}", again), format!("{:?}", Ok::<_, ()>(package)));
        }
    }
}
