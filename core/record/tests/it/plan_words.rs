//! Journeys in `plan.yaml`: readable, without secrets, and part of the hash.

use crate::support;

use support::plan;
use wavetank_plan::{
    Action, AuthPlan, Check, CheckSubject, Choice, DataPlan, Escape, Expr, Extract, Hole, OnFailure, Op,
    Operand, Plan, PlannedEvent, Quantity, Rendezvous, RowChoice, Scenario, Secret, StatusSet, Template,
    TemplatePart, Test, Think,
};
use wavetank_record::PlanDoc;
use wavetank_units::Nanos;

fn hole(value: Expr) -> Template {
    Template { pieces: vec![TemplatePart::Hole(Hole { value, escape: Escape::Plain })] }
}

fn status(value: f64) -> Check {
    Check {
        text: "status".to_owned(),
        subject: CheckSubject::Answer("status".to_owned()),
        test: Test::Compare(Op::Equal, vec![Operand::Number(value.into(), Quantity::Bare)]),
    }
}

fn journey() -> Plan {
    let mut plan = plan();
    plan.shared.data = vec![DataPlan {
        name: "accounts".to_owned(),
        file: Some("accounts.csv".to_owned()),
        row: RowChoice::Unique,
        columns: vec!["user".to_owned()],
        rows: 50_000,
        sha256: "00".to_owned(),
    }];
    plan.shared.counts = vec!["sold".to_owned()];
    plan.shared.rendezvous = vec!["doors".to_owned()];
    plan.under_test = vec!["lb1".to_owned()];
    plan.events = vec![PlannedEvent {
        when: Nanos::from_secs(900),
        host: "app07".to_owned(),
        run: "systemctl stop app".to_owned(),
        undo: Some("systemctl start app".to_owned()),
        lasts: Some(Nanos::from_secs(60)),
    }];
    let scenario = &mut plan.scenarios[0];
    scenario.variables = vec!["sku".to_owned(), "all".to_owned()];
    scenario.groups = vec!["cart".to_owned()];
    scenario.pace = Some(Nanos::from_secs(1));
    scenario.on_failure = OnFailure::EndSession;
    let secret = Expr::Secret { name: "KEY".to_owned(), value: Secret::new("PLANTED-SECRET") };
    let step = &mut scenario.steps[0];
    step.request.path = hole(Expr::Column { data: 0, column: 0 });
    step.request.body = hole(Expr::HmacSha256(Box::new(secret.clone()), Box::new(Expr::Variable(0))));
    step.auth = Some(AuthPlan::Bearer(hole(secret)));
    step.expect = Some(StatusSet(vec![(200, 200)]));
    step.timeout = Some(Nanos::from_secs(2));
    step.extract = vec![Extract { variable: 1, from: "json $.sku[*]".to_owned(), all: true }];
    step.checks = vec![status(200.0), Check { text: "fine".to_owned(), ..status(200.0) }];
    step.counts = vec![(0, status(409.0))];
    let doors = Rendezvous { place: 0, wait: Nanos::from_secs(90), of: None };
    scenario.journey = vec![
        Action::Group(
            0,
            vec![Action::Request(0), Action::Think(Think::Exponential { mean: Nanos::from_secs(2) })],
        ),
        Action::Each { list: 1, name: 0, steps: vec![Action::Rendezvous(doors)] },
        Action::If {
            check: Box::new(status(200.0)),
            then: vec![Action::EndSession],
            otherwise: vec![Action::Choose(vec![Choice { weight: 3, steps: vec![Action::EndRun] }])],
        },
    ];
    plan
}

#[test]
fn a_journey_is_shown_as_text() {
    let text = PlanDoc::new(&journey()).to_yaml();
    for words in [
        "group cart",
        "  POST /cart",
        "  think exponential 2s",
        "each all as sku",
        "  rendezvous doors of all, wait 90s",
        "if status = 200",
        "choose, weight 3",
        "${accounts.user}",
        "${hmac_sha256(secret:KEY,sku)}",
        "auth: bearer",
        "all = json $.sku[*] (all)",
        "sold: status = 409",
        "row: unique",
        "when: 900s",
    ] {
        assert!(text.contains(words), "`{words}` is missing in\n{text}");
    }
    assert!(!text.contains("PLANTED-SECRET"), "{text}");
}

#[test]
fn what_is_done_is_part_of_the_hash() {
    let hash = |plan: &Plan| PlanDoc::hash(&PlanDoc::new(plan).to_yaml());
    let mut other = journey();
    other.scenarios[0].journey.pop();
    assert_ne!(hash(&journey()), hash(&other));
}

#[test]
fn what_reports_need_comes_back() {
    let (plan, text) = (journey(), PlanDoc::new(&journey()).to_yaml());
    let again = PlanDoc::from_yaml(&text).unwrap().plan().unwrap();
    assert_eq!(
        (&again.shared, &again.events, &again.under_test),
        (&plan.shared, &plan.events, &plan.under_test)
    );
    let (scenario, before) = (&again.scenarios[0], &plan.scenarios[0]);
    assert_eq!((&scenario.groups, &scenario.pace), (&before.groups, &before.pace));
    assert_eq!(scenario.on_failure, before.on_failure);
    assert_eq!(scenario.steps[0].expect, before.steps[0].expect);
    assert_eq!(scenario.steps[0].timeout, before.steps[0].timeout);
    // Checks keep their names, and groups their steps; actions stay as text.
    let called = |scenario: &Scenario| -> Vec<String> {
        scenario.steps[0].checks.iter().map(|check| check.text.clone()).collect()
    };
    assert_eq!(called(scenario), called(before));
    assert_eq!(scenario.steps[0].counts[0].0, 0);
    let group = Action::Group(0, vec![Action::Request(0)]);
    assert_eq!(scenario.journey, [Action::Repeat(0, vec![group.clone()]), Action::EndSession]);
    assert_eq!((scenario.steps_of_group(0), scenario.is_one_request()), (vec![0], false));
    assert_eq!(scenario.requests(), None, "it may end anywhere");
    // The number of requests of a session, if known.
    let mut known = journey();
    known.scenarios[0].journey =
        vec![group, Action::Think(Think::Fixed(Nanos::SECOND)), Action::Repeat(2, vec![Action::Request(0)])];
    let again = PlanDoc::from_yaml(&PlanDoc::new(&known).to_yaml()).unwrap().plan().unwrap();
    assert_eq!(again.scenarios[0].requests(), Some(3));
}
