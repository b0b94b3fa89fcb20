//! `--scale`, `--speed` and `--target`: which numbers change, and which do not.

use crate::support;

use support::plans::plan_of_changed;
use support::{example_text, reading};
use wavetank_experiment::{Experiment, Factor, FromTo, PhaseLoad, Sessions, StairHeight, Verb};
use wavetank_plan::Load;
use wavetank_units::{Nanos, Rate};

fn example(name: &str) -> Experiment {
    reading(name, example_text(name).as_bytes(), &[]).experiment.expect("examples are read")
}

fn factor(text: &str) -> Factor {
    Factor::parse("--scale", text).expect("a factor")
}

fn texts(experiment: &Experiment) -> Vec<&str> {
    experiment.thresholds.iter().map(|condition| condition.value.text.as_str()).collect()
}

#[test]
fn a_thousandth_of_a_million() {
    let mut lb = example("lb-million.yaml");
    lb.scale(factor("1/1000"));
    let loads: Vec<&PhaseLoad> = lb.phases.iter().map(|phase| &phase.load.value).collect();
    assert_eq!(loads[0], &PhaseLoad::Hold(FromTo { from: 0, to: 1_000 }));
    assert_eq!(loads[2], &PhaseLoad::Hold(FromTo { from: 1_000, to: 0 }));
    assert_eq!(lb.phases[0].at.as_ref().map(|at| at.value), Some(Rate::per_second(10)));
    assert_eq!(
        texts(&lb),
        [
            "held >= 1000 in keep",
            "lost = 0",
            "established(lb1) >= 2000 in keep",
            "p99(connect) < 1s in open",
            "cpu(lb1) < 96%"
        ]
    );
}

#[test]
fn rounded_up_to_one() {
    let mut tsung = example("tsung-static.yaml");
    tsung.scale(factor("1/1000"));
    let PhaseLoad::Rate { rate, .. } = &tsung.phases[0].load.value else { panic!("a rate") };
    assert_eq!(rate.to, Rate::per_second(1));
    assert_eq!(tsung.phases[0].sessions.as_ref().map(|at| at.value), Some(Sessions::Total(15)));
    let Verb::Repeat(times, _) = &tsung.scenarios[0].steps[0].verb else { panic!("a repeat") };
    assert_eq!(times.value, 10_000_000, "repeat is what a user does, not how many there are");
}

#[test]
fn a_trace_is_thinned_and_sped_up() {
    let times = |scale: &str, speed: &str| {
        let file =
            "wavetank: 1\ntarget: http://127.0.0.1:8080\nsteps: [get: /]\nphases: [{trace: times.csv}]\n";
        let plan = plan_of_changed("x.yaml", file, |experiment| {
            experiment.scale(factor(scale));
            experiment.speed(factor(speed));
        });
        let Load::Trace { times } = &plan.phases[0].load else { panic!("a trace: {plan:?}") };
        times.iter().map(|time| time.0 / 1_000_000).collect::<Vec<_>>()
    };
    assert_eq!(times("1", "1"), [2_000, 2_250, 2_500, 2_750]);
    assert_eq!(times("1", "2x"), [1_000, 1_125, 1_250, 1_375]);
    assert_eq!(times("1/2", "1"), [2_000, 2_500]);
    assert_eq!(times("1/1000", "1"), [2_000], "the first is left");
    assert_eq!(times("2", "1"), [2_000, 2_000, 2_250, 2_250, 2_500, 2_500, 2_750, 2_750]);
    assert_eq!(times("1.5", "10x"), [200, 200, 225, 250, 250, 275]);
    let rates = "wavetank: 1\ntarget: http://127.0.0.1:8080\nsteps: [get: /]\nphases: [{trace: rates.csv, for: 6s}]\n";
    let rehearsed = plan_of_changed("x.yaml", rates, |experiment| {
        experiment.scale(factor("1/5"));
        experiment.speed(factor("2x"));
    });
    let Load::Open { rate, .. } = &rehearsed.phases[0].load else { panic!("rates: {rehearsed:?}") };
    assert_eq!((rate.max(), rate.length()), (Rate::per_second(4), Nanos::from_secs(3)));
}

#[test]
fn each_and_waits_stay() {
    let mut sale = example("flash-sale.yaml");
    let before = sale.clone();
    sale.scale(factor("1/1000"));
    sale.speed(factor("20x"));
    let buyer = &sale.scenarios[1];
    assert_eq!(buyer.phases[0].load.value, PhaseLoad::Users(FromTo { from: 0, to: 100 }));
    assert_eq!(buyer.phases[0].sessions.as_ref().map(|at| at.value), Some(Sessions::Each(1)));
    assert_eq!(
        buyer.phases[0].at.as_ref().map(|at| at.value),
        Some(Rate::per_second(100)),
        "scaled, then sped"
    );
    assert_eq!(buyer.phases[1].load.value, PhaseLoad::Pause(Nanos::from_secs(6)));
    assert_eq!(sale.phases[0].length.as_ref().map(|at| at.value), Some(Nanos::from_secs(9)));
    assert_eq!(buyer.steps, before.scenarios[1].steps, "waits, timeouts and checks");
    assert_eq!(sale.vars, before.vars);
    assert_eq!(texts(&sale), texts(&before), "times and shares");
}

#[test]
fn stairs_of_shapes() {
    let mut shapes = example("shapes.yaml");
    shapes.speed(factor("5"));
    let stairs = shapes.scenarios[0].phases[0].stairs.expect("stairs");
    assert_eq!((stairs.every, stairs.ramp), (Nanos::from_secs(2), Some(Nanos::from_millis(400))));
    shapes.scale(factor("0.1"));
    let stairs = shapes.scenarios[0].phases[0].stairs.expect("stairs");
    assert_eq!(stairs.step, StairHeight::Count(5));
}

#[test]
fn elsewhere() {
    let mut sale = example("flash-sale.yaml");
    sale.retarget("http://127.0.0.1:8080").expect("one target is the target");
    assert_eq!(sale.targets[0].urls[0].url.value.port, 8080);
    let error = sale.retarget("shop=http://127.0.0.1").expect_err("no such target");
    assert_eq!(error.code, "target_unknown");
    let text = "wavetank: 1\ntargets: {api: 'http://a', shop: ['http://b', 'http://c']}\n\
                steps: [{get: /, to: api}]\nphases: [{rate: 1/s, for: 1s}]\n";
    let mut named = reading("named.yaml", text.as_bytes(), &[]).experiment.expect("is read");
    named.retarget("shop=http://127.0.0.1:9").expect("a name");
    assert_eq!(named.targets[1].urls.len(), 1);
    assert_eq!(named.retarget("http://127.0.0.1").expect_err("which?").code, "target_unknown");
    assert!(named.retarget("shp=http://a").expect_err("a slip").hint.contains("shop?"));
}

#[test]
fn factors() {
    for text in ["0", "-1", "1/0", "x", "", "1e9", "1/2/3", "10%"] {
        assert_eq!(Factor::parse("--speed", text).expect_err(text).code, "bad_factor", "{text}");
    }
}

#[test]
fn a_factor_of_one_is_no_rehearsal() {
    let one = |text| factor(text).is_one();
    assert!(one("1") && one("1x") && one("3/3") && one("1.0"));
    assert!(!one("1/1000") && !one("1.1") && !one("2x"));
}
