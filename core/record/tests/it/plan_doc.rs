//! `plan.yaml`: canonical, without secrets, and good enough to judge a run again.

use crate::support;

use support::{Random, golden, plan};
use wavetank_plan::{
    Arrivals, Load, Phase, Plan, PopulationCurve, RateCurve, RequestPlan, ScenarioMix, Template, TlsIdentity,
};
use wavetank_record::PlanDoc;
use wavetank_units::{Nanos, Rate};

/// Returns the plan as it is after writing: without secrets and long bodies.
fn redacted(mut plan: Plan) -> Plan {
    plan.targets[0].url = plan.targets[0].url.replace("user:PLANTED-SECRET@", "");
    let tls = plan.tls.as_mut().expect("a plan with everything in it");
    tls.ca_pem = Some(Vec::new());
    tls.client = Some(TlsIdentity { chain_pem: Vec::new(), key_pem: Vec::new() });
    let request = &mut plan.scenarios[0].steps[0].request;
    for (name, value) in &mut request.headers {
        if name == "Authorization" || name == "X-Mine" {
            *value = "***".into();
        }
    }
    request.secret_headers = vec!["authorization".to_owned(), "x-mine".to_owned()];
    plan
}

fn check(plan: &Plan) {
    let text = PlanDoc::new(plan).to_yaml();
    let doc = PlanDoc::from_yaml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(doc, PlanDoc::new(plan), "{text}");
    assert_eq!(doc.to_yaml(), text, "the text is canonical");
    assert_eq!(doc.plan().as_ref(), Ok(&redacted(plan.clone())), "{text}");
}

#[test]
fn the_document_is_as_described() {
    let text = PlanDoc::new(&plan()).to_yaml();
    golden("plan.yaml", &text);
    check(&plan());
}

/// Every kind of load, constant and moving, is read back unchanged.
#[test]
fn shapes_come_back() {
    let length = Nanos::from_secs(60);
    let per_s = Rate::per_second;
    let open = |rate: RateCurve| Load::Open { rate, arrivals: Arrivals::Even, requests_each: Some(5) };
    let closed = |users: PopulationCurve| Load::Closed { users, sessions_each: Some(3) };
    let hold = |connections: PopulationCurve| Load::Hold { connections, sessions_each: None };
    let wave = RateCurve::wave(per_s(0), per_s(5), Nanos::from_secs(7), length).expect("a wave");
    let ramp = PopulationCurve::ramp(0, 1_000_000, length).expect("a ramp");
    let spiked = RateCurve::constant(per_s(5), Some(length)).with_spikes(
        Rate { count: 7, per: length },
        Nanos(1),
        Nanos::from_secs(7),
    );
    let loads = [
        open(RateCurve::constant(per_s(9), Some(length))),
        open(wave),
        open(spiked.expect("spikes")),
        closed(PopulationCurve::constant(7, Some(length))),
        closed(
            PopulationCurve::stairs(0, 300, 50, Nanos::from_secs(10), Nanos::from_secs(2)).expect("stairs"),
        ),
        hold(PopulationCurve::constant(0, Some(length))),
        Load::Hold { connections: ramp, sessions_each: Some(2) },
        Load::Trace { times: [0, 5, 5, 1_000].map(Nanos).into() },
        Load::Pause,
    ];
    let mut plan = plan();
    plan.scenarios.push(plan.scenarios[0].clone());
    let main = plan.phases[1].clone();
    let mix = ScenarioMix::new(vec![(0, 70), (1, 30)]).expect("a mix");
    plan.phases.extend(loads.into_iter().map(|load| Phase {
        load,
        mix: mix.clone(),
        length: Some(length),
        sessions_max: Some(12),
        ..main.clone()
    }));
    let text = PlanDoc::new(&plan).to_yaml();
    let doc = PlanDoc::from_yaml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(doc.plan().map(|plan| plan.phases), Ok(plan.phases), "{text}");
    assert_eq!(doc.to_yaml(), text, "the text is canonical");
    let broken = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        let broken = PlanDoc::from_yaml(&text.replacen(from, to, 1)).and_then(|doc| doc.plan());
        assert!(broken.is_err(), "{to}: {broken:?}");
    };
    broken("pause: true", "pause: true\n  hold: 5");
    broken("trace: 0 5 5 1000", "trace: 0 5 4 1000");
    broken("60s 0 to 1000000", "60s 0 until 1000000");
    broken("60s 0 to 1000000", "0s 0 to 1000000");
}

#[test]
fn secrets_are_not_written() {
    let text = PlanDoc::new(&plan()).to_yaml();
    assert!(!text.contains("PLANTED"), "{text}");
    assert_eq!(text.matches("***").count(), 2, "{text}");
}

/// A plan in the clear says nothing of TLS, so that its text and hash are what they were.
#[test]
fn without_tls_nothing_is_said_of_it() {
    let mut plan = plan();
    plan.tls = None;
    plan.targets[0].server_name = None;
    let doc = PlanDoc::new(&plan);
    assert!(!doc.to_yaml().contains("tls") && !doc.to_yaml().contains("server_name"), "{}", doc.to_yaml());
    assert_eq!(doc.plan().expect("a plan").tls, None);
}

#[test]
fn the_hash_is_that_of_the_text() {
    assert_eq!(PlanDoc::hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    let (mut other, text) = (plan(), PlanDoc::new(&plan()).to_yaml());
    other.seed -= 1;
    assert_ne!(PlanDoc::hash(&PlanDoc::new(&other).to_yaml()), PlanDoc::hash(&text));
}

#[test]
fn long_and_binary_bodies_are_shown_by_size_and_hash() {
    for body in [vec![0_u8; 12], vec![b'x'; 5_000], vec![0xff, 0xfe], b"bell\x07".to_vec()] {
        let mut plan = plan();
        let bytes = body.len();
        plan.scenarios[0].steps[0].request.body = Template::fixed(body);
        let text = PlanDoc::new(&plan).to_yaml();
        assert!(text.contains(&format!("bytes: {bytes}")) && !text.contains("text:"), "{text}");
        let again = PlanDoc::from_yaml(&text).unwrap().plan().unwrap();
        assert_eq!(again.scenarios[0].steps[0].request.body, Template::default());
    }
}

/// Texts that a careless YAML writer turns into something else.
#[test]
fn awkward_words_come_back() {
    for word in [
        "",
        " ",
        "~",
        "null",
        "true",
        "no",
        "1e3",
        "0x1f",
        "007",
        "1_000",
        "12:30:00",
        "2026-11-21",
        ".inf",
        "-",
        "- a",
        "a: b",
        "a #b",
        "#",
        "*a",
        "&a",
        "!a",
        "|",
        ">",
        "%",
        "@",
        "`",
        "{a}",
        "[a]",
        "'",
        "\"",
        "\\",
        "a\nb",
        "a\n",
        "\n",
        "\ta",
        "a ",
        " a",
        "ä→",
        "\u{feff}",
        "\u{85}",
        "\u{2028}",
        "---",
        "...",
        "<<",
        "=",
        "y",
        "***",
        "a\rb",
        "\u{7f}",
    ] {
        let mut plan = plan();
        plan.name = word.to_owned();
        plan.tags.insert(word.to_owned(), word.to_owned());
        let request = &mut plan.scenarios[0].steps[0].request;
        *request = RequestPlan { path: word.into(), method: word.to_owned(), ..request.clone() };
        plan.scenarios[0].steps[0].name = word.to_owned();
        check(&plan);
    }
}

#[test]
fn nonsense_is_refused() {
    let good = PlanDoc::new(&plan()).to_yaml();
    for (from, to) in [
        ("wavetank_plan: 1", "wavetank_plan: 2"),
        ("drain: 60s", "drain: 60"),
        ("engine: epoll", "engine: steam"),
        ("version: HTTP/1.1", "version: HTTP/4"),
        ("to: localhost:8080", "to: nowhere"),
        ("scenario: 0", "scenario: 1"),
        ("rate: 7/3ms", "rate: 7/0ms"),
        ("users: 50", "loosers: 50"),
        ("p99 < 250ms", "p99 < 250"),
        ("200 to 399", "200 or 399"),
        ("resume: user", "resume: friend"),
        ("version: 1.2 to 1.3", "version: 1.1"),
    ] {
        assert!(good.contains(from), "the test no longer damages anything: {from}\n{good}");
        let bad = good.replacen(from, to, 1);
        let read = PlanDoc::from_yaml(&bad).and_then(|doc| doc.plan());
        assert!(read.is_err(), "{from} → {to}");
    }
}

#[test]
fn damaged_documents_never_panic() {
    let text = PlanDoc::new(&plan()).to_yaml();
    let mut refused = 0;
    for seed in 1..2_000 {
        let mut random = Random(seed);
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(4) {
                0 => bytes[at] = random.next() as u8,
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, b"\n :-#&*!|>'\"{}[]%@`,?~\t"[random.below(23) as usize]),
                _ => drop(bytes.remove(at)),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let damaged = String::from_utf8_lossy(&bytes).into_owned();
        let read = std::panic::catch_unwind(|| PlanDoc::from_yaml(&damaged).and_then(|doc| doc.plan()));
        refused += u32::from(read.unwrap_or_else(|_| panic!("seed {seed}:\n{damaged}")).is_err());
    }
    assert!(refused > 300, "only {refused} refused");
}
