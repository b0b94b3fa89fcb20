//! Truth suite: the conclusions of a run, and that it checks itself first.

use std::time::Duration;

use wavetank_testkit::{RunHarness, Script, Signal, Target, expect_time, retry_timing};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn a_broken_threshold_is_exit_1_and_reported() {
    let target = Target::start(Script::constant(Duration::from_millis(20)));
    let held = trial().run(&target, "-c 2 -n 40 --threshold p50<200ms", 0);
    let of_user =
        held.at("thresholds").as_array().expect("a list").iter().filter(|one| one["implicit"] == false);
    assert_eq!(of_user.map(|one| one["ok"].clone()).collect::<Vec<_>>(), [true], "{held}");
    let broken = trial().run(&target, "-c 2 -n 40 --threshold p50<10ms --threshold failed<1%", 1);
    assert_eq!(broken.status(), "fail", "{broken}");
    // Two of forty samples are above the limit. That may be chance, and the shortest and longest
    // time do not decide it either.
    let target = Target::start(Script::bimodal(Duration::from_millis(2), Duration::from_millis(900), 20));
    let open = trial().run(&target, "-c 2 -n 40 --threshold p99<500ms", 4);
    assert_eq!(open.status(), "incomplete", "{open}");
    assert!(
        open.at("verdict.reasons").as_array().is_some_and(|all| all.contains(&"undecided".into())),
        "{open}"
    );
    // The longest time was shorter, which decides it with any number of samples.
    let settled = trial().run(&target, "-c 2 -n 40 --threshold p99<9s", 0);
    assert_eq!(settled.status(), "pass", "{settled}");
}

#[test]
fn a_generator_that_stood_still_calls_itself_invalid() {
    // The program is stopped for two seconds of four. Arrivals that it could not start within a
    // second are dropped as `behind`, and the others are late. The target is not to blame.
    let target = Target::start(Script::constant(ms(1)));
    retry_timing(|| {
        target.reset();
        let trial = trial();
        let words = "-r 100/s -d 4s --arrivals even --no-probe".split_whitespace();
        let running = trial.load(&target.url("/"), words).start();
        target.wait_for("load", Duration::from_mins(1), |truth| truth.requests >= 100);
        running.signal(Signal::STOP);
        assert!(!running.ends_within(ms(2_000)), "a stopped process does not end");
        running.signal(Signal::CONT);
        let outcome = running.wait(Duration::from_mins(1));
        let result = trial.try_check(&outcome, &target, 3)?;
        assert_eq!(result.count("requests.offered"), 400, "all planned requests are offered: {result}");
        assert_eq!((result.status(), result.text("verdict.blame")), ("invalid", "generator"), "{result}");
        assert!(
            !result.to_string().contains("standstill"),
            "that no answer was read is its own doing: {result}"
        );
        let lag = result.time("lag_us.max");
        expect_time(lag <= ms(1_100), || {
            format!("no request starts more than a second late: {lag:?}\n{result}")
        })?;
        let (behind, late) = (result.count("dropped_by.behind"), result.count("requests.late"));
        expect_time((95..=110).contains(&behind) && (90..=130).contains(&late), || {
            format!("{behind} dropped as behind, {late} late; a second of each is due\n{result}")
        })
    });
}

#[test]
fn a_target_that_stood_still_is_not_the_generators_fault() {
    let target = Target::start(Script::freeze(ms(1), ms(500), ms(700)));
    retry_timing(|| {
        let words = "-r 100/s -d 2s --arrivals even --no-probe --threshold p90<100ms";
        let result = trial().try_run(&target, words, 1)?;
        assert_eq!(result.status(), "fail", "the threshold is broken, and not in doubt: {result}");
        expect_time(result.text("verdict.blame") != "generator", || format!("{result}"))
    });
}

#[test]
fn a_stop_condition_ends_the_run() {
    // After one and a half seconds everything fails: a quarter of the first two seconds, three
    // quarters of the next.
    let target = Target::start(Script::new(|seen| {
        let status = if seen.number < 150 { 200 } else { 500 };
        vec![wavetank_testkit::ScriptAction::Send(wavetank_testkit::answer(status, b"hello"))]
    }));
    retry_timing(|| {
        target.reset();
        let trial = trial();
        let words = ["-r", "100/s", "-d", "40s", "--no-probe", "--stop", "failed > 50% for 2s"];
        let outcome = trial.load(&target.url("/"), words).run();
        let result = trial.try_check(&outcome, &target, 1)?;
        assert!(outcome.took > ms(2_900), "{outcome}");
        assert_eq!(result.status(), "fail", "{result}");
        let offered = result.count("requests.offered");
        assert!((250..40 * 100).contains(&offered), "stopped, and not too early: {result}");
        let in_good_time = offered < 1_200 && outcome.took < Duration::from_secs(15);
        expect_time(in_good_time, || format!("stopped too late: {outcome}"))
    });
}

#[test]
fn one_request_is_shown_with_its_instants() {
    let target = Target::start(Script::constant(ms(30)));
    let trial = trial();
    let outcome = trial.program().args(["run", &target.url("/once"), "--once"]).run();
    outcome.expect_exit(0);
    assert_eq!(target.settled().for_path("/once"), 1, "one and no more: {outcome}");
    for word in ["200", "hello", "ms"] {
        assert!(outcome.stdout.contains(word), "`{word}` is not shown: {outcome}");
    }
    assert!(trial.place().runs("runs").is_empty(), "no load, no archive: {outcome}");
}

#[test]
fn memory_is_the_programs_own_and_not_that_of_who_started_it() {
    const OURS: usize = 256 << 20;
    let target = Target::start(Script::constant(ms(1)));
    let mut block = vec![0_u8; OURS];
    // Written to, so that it is resident.
    block.iter_mut().step_by(4_096).for_each(|byte| *byte = 1);
    let result = trial().run(&target, "-c 1 -n 10", 0);
    assert_eq!(block.iter().map(|&byte| usize::from(byte)).sum::<usize>(), OURS / 4_096);
    let peak = result.count("generator.peak_rss_bytes");
    assert!(peak > 1 << 20 && peak < OURS as u64 / 2, "{result}");
}
