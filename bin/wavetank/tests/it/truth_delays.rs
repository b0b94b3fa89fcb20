//! Truth suite: measurements against targets with known delays give the expected values.

use std::time::Duration;

use wavetank_testkit::{
    Mixture, RunHarness, RunResult, Script, ScriptAction, Target, TimingMismatch, answer, expect_time,
    retry_timing,
};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Checks the percentiles of `series`, each within max(2 %, 1 ms) of the closed form.
#[track_caller]
fn check(
    result: &RunResult,
    series: &str,
    expected: &Mixture,
    percentiles: &[u32],
) -> Result<(), TimingMismatch> {
    for percentile in percentiles {
        let path = format!("{series}.p{percentile}");
        result.check_time(&path, expected.quantile(f64::from(*percentile) / 100.0))?;
    }
    Ok(())
}

#[test]
fn a_constant_delay_in_the_closed_model() {
    let target = Target::start(Script::constant(ms(60)));
    retry_timing(|| {
        let result = trial().try_run(&target, "-c 8 -d 3s", 0)?;
        assert_eq!(result.count("connections.opened"), 8, "{result}");
        assert_eq!(target.truth().connections, 9, "eight users and the probe");
        assert_eq!(result.count("setup.done"), 1, "{result}");
        let expected = Mixture::constant(ms(60));
        check(&result, "response_us", &expected, &[50, 75, 90, 95])?;
        check(&result, "service_us", &expected, &[50, 75, 90, 95])?;
        check(&result, "ttfb_us", &expected, &[50, 90])?;
        // Eight users with 60 ms each: at most 133/s, and no more than 5 % less.
        let rate = result.number("rate.done_per_s");
        assert!(rate <= 133.4, "done at {rate}/s: {result}");
        expect_time(rate >= 126.0, || format!("done at {rate}/s\n{result}"))
    });
}

#[test]
fn a_constant_delay_in_the_open_model() {
    let target = Target::start(Script::constant(ms(25)));
    retry_timing(|| {
        let result = trial().try_run(&target, "-r 200/s -d 3s --arrivals even", 0)?;
        assert_eq!(result.count("requests.offered"), 600, "{result}");
        assert_eq!(result.count("requests.done"), 600, "{result}");
        let rate = result.number("rate.offered_per_s");
        assert!((rate - 200.0).abs() < 0.5, "offered at {rate}/s: {result}");
        let expected = Mixture::constant(ms(25));
        check(&result, "response_us", &expected, &[50, 75, 90, 95])?;
        check(&result, "service_us", &expected, &[50, 75, 90, 95])
    });
}

#[test]
fn a_freeze_hits_the_share_it_lasts() {
    let (base, freeze, run) = (ms(2), ms(800), ms(4_000));
    let target = Target::start(Script::freeze(base, ms(1_500), freeze));
    retry_timing(|| {
        let result = trial().try_run(&target, "-r 250/s -d 4s --arrivals even --no-probe", 0)?;
        assert_eq!(result.count("requests.done"), 1_000, "{result}");
        let expected = Mixture::freeze(base, freeze, run);
        check(&result, "response_us", &expected, &[50, 75, 90, 95, 99])?;
        result.check_time("response_us.max", base + freeze)?;
        // The mean of the same distribution: a fifth of the requests wait 0.4 s.
        result.check_time("response_us.mean", expected.mean())
    });
}

#[test]
fn a_freeze_reaches_the_closed_view_only_once_a_user() {
    let (base, freeze) = (ms(2), ms(800));
    let target = Target::start(Script::freeze(base, ms(1_000), freeze));
    retry_timing(|| {
        let result = trial().try_run(&target, "-c 4 -d 3s --no-probe", 0)?;
        // Each of the four users has one request during the freeze, which are too few to affect
        // p99.
        check(&result, "response_us", &Mixture::constant(base), &[50])?;
        result.within("response_us.max", ms(780)..=ms(850))?;
        result.within("response_us.p99", base..=ms(50))
    });
}

#[test]
fn two_modes_stay_two() {
    let (fast, slow) = (ms(5), ms(90));
    let target = Target::start(Script::bimodal(fast, slow, 5));
    retry_timing(|| {
        let result = trial().try_run(&target, "-r 150/s -d 3s --arrivals even --no-probe", 0)?;
        assert_eq!(result.count("requests.done"), 450, "{result}");
        let expected = Mixture::bimodal(fast, slow, 0.2);
        // These are p62 of the fast requests, and p50 and p75 of the slow ones. p75 of all would be
        // p94 of the fast ones, which mostly shows how often the machine paused.
        check(&result, "response_us", &expected, &[50, 90, 95])?;
        result.check_time("response_us.mean", expected.mean())
    });
}

#[test]
fn a_trickle_is_transfer_and_not_first_byte() {
    // The first byte comes after 50 ms, and every further byte one gap later.
    let (first, gap) = (ms(50), Duration::from_micros(1_500));
    let bytes = answer(200, &[b'x'; 20]);
    let trickle = gap * (bytes.len() as u32 - 1);
    let target = Target::start(Script::new(move |_| {
        vec![ScriptAction::Wait(first), ScriptAction::Trickle(bytes.clone(), gap)]
    }));
    retry_timing(|| {
        let result = trial().try_run(&target, "-c 2 -n 16", 0)?;
        assert_eq!(result.count("requests.done"), 16, "{result}");
        check(&result, "ttfb_us", &Mixture::constant(first), &[50])?;
        check(&result, "transfer_us", &Mixture::constant(trickle), &[50, 75])?;
        check(&result, "service_us", &Mixture::constant(first + trickle), &[50, 75])
    });
}

#[test]
fn a_pool_that_is_too_small_shows_as_wait() {
    // Four connections at 40 ms handle 100/s. At 200/s the queue grows during the whole run. An
    // arrival at t is sent at 2t, so waits are spread evenly between 0 and the run's length.
    let (delay, run) = (ms(40), ms(2_000));
    let target = Target::start(Script::constant(delay));
    retry_timing(|| {
        let result = trial().try_run(&target, "-r 200/s -c 4 -d 2s --arrivals even --no-probe", 0)?;
        assert_eq!(result.count("requests.done"), 400, "{result}");
        assert_eq!(target.truth().open_peak, 4, "the cap holds");
        let wait = Mixture::default().uniform(1.0, Duration::ZERO, run);
        let response = Mixture::default().uniform(1.0, delay, run + delay);
        check(&result, "wait_us", &wait, &[50, 90])?;
        check(&result, "response_us", &response, &[50, 90])?;
        check(&result, "service_us", &Mixture::constant(delay), &[50])?;
        // The requests started on time, so the wait is not the generator's lag.
        check(&result, "lag_us", &Mixture::constant(Duration::ZERO), &[50, 90])
    });
}

#[test]
fn answers_in_the_drain_count_in_requests_and_in_no_rate() {
    // Twenty arrivals in a second, each answered 625 ms later: eight responses come within the
    // second.
    let target = Target::start(Script::constant(ms(625)));
    retry_timing(|| {
        let result = trial().try_run(&target, "-r 20/s -d 1s --arrivals even --no-probe", 0)?;
        assert_eq!(result.count("requests.done"), 20, "{result}");
        result.check_time("response_us.p50", ms(625))?;
        let rate = result.number("rate.done_per_s");
        expect_time((rate - 8.0).abs() < 0.1, || format!("done at {rate}/s within the phase\n{result}"))
    });
}

#[test]
fn one_slow_probe_does_not_widen_the_pool() {
    // The probe's first answer alone would allow 1,024 connections. Another one, on the same
    // connection, takes no second.
    let target = Target::start(Script::new(|seen| {
        let delay = if seen.number == 1 { ms(1_000) } else { Duration::ZERO };
        vec![ScriptAction::Wait(delay), ScriptAction::Send(answer(200, b"ok"))]
    }));
    let outcome = trial().load(&target.url("/"), ["-r", "100/s", "-n", "20"]).run();
    assert!(outcome.stderr.contains("at most 256 connections (-c)"), "{outcome}");
    let result = outcome.result();
    let sent = result.count("setup.sent");
    assert!((2..=9).contains(&sent), "{result}");
    assert_eq!(result.count("setup.done"), sent, "{result}");
    let truth = target.settled();
    assert_eq!(truth.requests, 20 + sent, "{result}");
    assert_eq!(truth.connections, 1 + result.count("connections.opened"), "{result}");
}
