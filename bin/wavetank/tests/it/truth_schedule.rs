//! Truth suite: the schedule is the same on every engine, checked by the target's own arrival
//! timestamps.

use std::time::Duration;

use wavetank_testkit::{
    Program, RunHarness, RunResult, Script, Target, TimingMismatch, expect_time, retry_timing, skip,
};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// Runs `words` and returns the result with the arrivals at the target, as times after the first.
#[track_caller]
fn arrivals(words: &str) -> Result<(RunResult, Vec<Duration>), TimingMismatch> {
    let target = Target::start(Script::constant(Duration::from_millis(1)));
    let result = trial().try_run(&target, &format!("{words} --no-probe"), 0)?;
    Ok((result, target.truth().schedule()))
}

/// Returns the distance of two lists: the median over all positions, after the median difference is
/// subtracted. Medians are used because this machine may pause either side for milliseconds, the
/// first arrival included. A different schedule differs in nearly every position.
fn apart(left: &[Duration], right: &[Duration]) -> Duration {
    let nanos = |time: &Duration| time.as_nanos() as i64;
    let mut off: Vec<i64> = left.iter().zip(right).map(|(left, right)| nanos(left) - nanos(right)).collect();
    let middle = off.len() / 2;
    off.sort_unstable();
    let shift = off[middle];
    let mut off: Vec<u64> = off.into_iter().map(|off| off.abs_diff(shift)).collect();
    off.sort_unstable();
    Duration::from_nanos(off[middle])
}

#[test]
fn even_arrivals_come_when_the_integral_says() {
    retry_timing(|| {
        let (result, seen) = arrivals("-r 200/s -d 2s --arrivals even")?;
        assert_eq!(result.count("requests.offered"), 400, "{result}");
        let planned: Vec<Duration> = (0..400).map(|i| Duration::from_millis(5) * i).collect();
        let off = apart(&seen, &planned);
        expect_time(off < Duration::from_micros(500), || format!("{off:?} off the schedule\n{result}"))
    });
}

#[test]
fn threads_and_repetition_do_not_change_the_schedule() {
    let base = "-r 300/s -d 2s --arrivals poisson --seed 42";
    let run = |threads: &str| {
        let (result, seen) = arrivals(&format!("{base} --threads {threads}"))?;
        assert_eq!(result.count("generator.threads").to_string(), threads, "{result}");
        Ok((result.count("requests.offered"), seen))
    };
    for threads in ["1", "2", "7"] {
        retry_timing(|| {
            let (offered, first) = run("1")?;
            assert!((480..=720).contains(&offered), "{offered} is not within five deviations of 600");
            let (again, seen) = run(threads)?;
            assert_eq!(again, offered, "{threads} threads");
            let off = apart(&first, &seen);
            expect_time(off < Duration::from_millis(1), || format!("{threads} threads: {off:?} apart"))
        });
    }
    retry_timing(|| {
        let (_, first) = run("1")?;
        let (_, other) = arrivals("-r 300/s -d 2s --arrivals poisson --seed 43")?;
        let off = apart(&first, &other);
        assert!(off > Duration::from_millis(2), "another seed is another schedule, but {off:?} apart");
        Ok(())
    });
}

#[test]
fn poisson_gaps_are_exponential() {
    retry_timing(|| {
        let (_, seen) = arrivals("-r 400/s -d 2s --arrivals poisson --seed 7")?;
        let mean = seen.last().expect("some arrived").as_secs_f64() / (seen.len() - 1) as f64;
        // Of exponential gaps, the share 1 − 1/e is below the mean. Of even gaps, it is all or
        // none.
        let below = seen.windows(2).filter(|pair| pair[1].abs_diff(pair[0]).as_secs_f64() < mean).count();
        let share = below as f64 / (seen.len() - 1) as f64;
        expect_time((0.58..0.69).contains(&share), || format!("{share} of the gaps are below their mean"))
    });
}

#[test]
fn a_count_is_exact_whatever_the_threads() {
    for (words, wanted) in
        [("-c 7 -n 100 --threads 1", 100), ("-c 7 -n 100 --threads 2", 100), ("-c 7 -n 101 --threads 7", 101)]
    {
        let target = Target::start(Script::constant(Duration::from_millis(1)));
        let result = trial().run(&target, &format!("{words} --no-probe"), 0);
        assert_eq!(result.count("requests.offered"), wanted, "{words}: {result}");
        assert_eq!(target.truth().requests, wanted, "{words}");
    }
    retry_timing(|| {
        let (result, _) = arrivals("-r 500/s -n 150 -d 10s --arrivals even --threads 2")?;
        assert_eq!(result.count("requests.offered"), 150, "{result}");
        Ok(())
    });
}

#[test]
fn warm_up_is_outside_and_sent_all_the_same() {
    for load in ["-r 100/s --arrivals even", "-c 4"] {
        let target = Target::start(Script::constant(Duration::from_millis(10)));
        retry_timing(|| {
            let result = trial().try_run(&target, &format!("{load} -d 2s --warmup 1s"), 0)?;
            let warm = result.count("warmup.wire.sent");
            assert!(warm > 0, "{result}");
            assert_eq!(result.count("warmup.requests.offered"), warm, "{result}");
            assert!((result.number("duration_s") - 2.0).abs() < 0.1, "{result}");
            if load.starts_with("-r") {
                assert_eq!((warm, result.count("requests.offered")), (100, 200), "{result}");
            }
            Ok(())
        });
    }
}

#[test]
fn max_open_drops_and_says_why() {
    // No response comes while the load lasts. Of 100 arrivals, ten may be in flight.
    let target = Target::start(Script::constant(Duration::from_millis(1_500)));
    let trial = trial();
    retry_timing(|| {
        target.reset();
        let words = "-r 100/s -d 1s --arrivals even --max-open 10 --no-probe";
        let outcome = trial.load(&target.url("/"), words.split_whitespace()).run();
        let result = outcome.result();
        result.conserved().agrees_with(&target.settled());
        assert_eq!(result.count("requests.offered"), 100, "{result}");
        assert!(target.truth().open_peak <= 10, "ten in flight need ten connections");
        let unknown = result.at("response_us.unknown").as_array().map_or(0, Vec::len);
        assert!(unknown > 0, "nine in ten were never measured: {result}");
        let dropped = result.count_or_zero("dropped_by.max_open");
        expect_time(dropped == 90, || format!("{dropped} dropped at the limit, 90 are due\n{result}"))
    });
}

#[test]
fn watching_does_not_change_the_load() {
    let base = "-r 300/s -d 2s --arrivals even --seed 5";
    let Some(script) = Program::foreign("script") else {
        return skip("watching_does_not_change_the_load", "`script` is not installed");
    };
    retry_timing(|| {
        let (quiet, unseen) = arrivals(&format!("{base} --quiet"))?;
        // `script` gives the program a terminal, which enables the live view.
        let target = Target::start(Script::constant(Duration::from_millis(1)));
        let trial = trial();
        let file = trial.place().file("result.json");
        let url = target.url("/");
        let command =
            trial.program().args(["run", &url, base, "--no-probe", "--out", &file]).arguments().join(" ");
        let outcome =
            script.clone().args(["-qec", &command, "/dev/null"]).in_folder(trial.place().path()).run();
        let text =
            std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}: {outcome}"));
        let watched = RunResult::new(serde_json::from_str(&text).expect("a result is JSON"));
        watched.conserved().agrees_with(&target.settled());
        assert!(outcome.stdout.contains('\r'), "the live view was on: {outcome}");
        assert_eq!(watched.count("requests.offered"), quiet.count("requests.offered"), "{watched}");
        let off = apart(&unseen, &target.truth().schedule());
        expect_time(off < Duration::from_millis(1), || format!("the schedules are {off:?} apart\n{watched}"))
    });
}
