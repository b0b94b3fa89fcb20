//! Truth suite: a target that misbehaves in every way simultaneously. No request may be lost or
//! invented.

use std::time::Duration;

use wavetank_testkit::{
    ReceivedRequest, RunHarness, Script, ScriptAction, Signal, Stamp, Target, TimingMismatch, answer,
    answer_with, expect_time, retry_timing,
};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Returns a pseudo-random number for a seed and an index, by `SplitMix64`'s finaliser (Steele,
/// Lea, Flood, 2014).
fn dice(seed: u64, place: u64) -> u64 {
    let mut z = seed.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Chooses the treatment of a request at random. Half of the requests are answered well, the others
/// in every bad way.
fn misbehave(seed: u64, seen: &ReceivedRequest) -> Vec<ScriptAction> {
    let raw = |text: &str| ScriptAction::Send(text.as_bytes().to_vec());
    match dice(seed, seen.number) % 32 {
        0 => vec![ScriptAction::Reset],
        1 => vec![ScriptAction::Close],
        2 => vec![ScriptAction::Silence],
        3 => vec![
            raw("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\npart"),
            ScriptAction::Wait(ms(1)),
            ScriptAction::Reset,
        ],
        4 => vec![raw("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\npart"), ScriptAction::HalfClose],
        5 => vec![raw("HTTP/1.1 200 OK\r\nContent-Le"), ScriptAction::Close],
        6 => vec![raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")],
        7 => vec![raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")],
        8 => vec![raw("SSH-2.0-OpenSSH_9.2p1\r\n"), ScriptAction::Silence],
        9 => vec![ScriptAction::Trickle(answer(200, b"drops"), Duration::from_micros(300))],
        10 => {
            vec![
                raw("HTTP/1.1 100 Continue\r\n\r\n"),
                ScriptAction::Wait(ms(1)),
                ScriptAction::Send(answer(200, b"at last")),
            ]
        }
        11 => vec![
            ScriptAction::Send(answer_with(200, &[("Connection", "close")], b"bye")),
            ScriptAction::Close,
        ],
        12 => vec![raw("HTTP/1.1 200 OK\r\n\r\nuntil the end"), ScriptAction::Close],
        13 => {
            vec![raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n")]
        }
        14 => vec![ScriptAction::Send(answer(500, b"no"))],
        15 => vec![ScriptAction::Wait(ms(400)), ScriptAction::Send(answer(200, b"too late"))],
        other => vec![ScriptAction::Wait(ms(other % 8)), ScriptAction::Send(answer(200, b"well"))],
    }
}

/// Runs `words` against a misbehaving target. Every request is accounted for, whatever the verdict.
#[track_caller]
fn check(seed: u64, words: &str) {
    retry_timing(|| attempt(seed, words));
}

#[track_caller]
fn attempt(seed: u64, words: &str) -> Result<(), TimingMismatch> {
    let target = Target::start(Script::new(move |seen| misbehave(seed, seen)));
    let trial = trial();
    let words = format!("{words} --timeout 250ms --drain 1s --no-probe --seed {seed}");
    let outcome = trial.load(&target.url("/"), words.split_whitespace()).run();
    assert!(matches!(outcome.exit, Some(1 | 3)), "seed {seed}: {outcome}");
    let result = outcome.result();
    result.conserved().agrees_with(&target.settled());
    assert_eq!(result.count("requests.open"), 0, "the drain is longer than the timeout: {result}");
    for class in ["reset", "closed_early", "request_timeout", "protocol", "status"] {
        assert!(result.count_or_zero(&format!("errors.{class}")) > 0, "no {class}, seed {seed}: {result}");
    }
    let truth = target.truth();
    let ok = result.count_or_zero("status.200");
    assert_eq!(ok, result.count("requests.done"), "seed {seed}: {result}");
    assert!(ok <= truth.by_status[&200], "no answer counts twice: {result}");
    // The warm-up is counted separately, and the target does not distinguish it.
    if !words.contains("--warmup") {
        // The kernel completes a connect that the run gives up when the machine pauses.
        let connections = result.count("connections.opened")..=result.count("connections.offered");
        assert!(connections.contains(&truth.connections), "seed {seed}: {connections:?}: {result}");
    }
    let report = trial.program().args(["report", "latest", "--format", "json"]).run();
    assert_eq!(report.expect_exit(0).result(), result, "seed {seed}");
    if words.contains("--warmup") {
        return Ok(());
    }
    let (counted, sent) = (result.count("status.500"), truth.by_status[&500]);
    assert!(counted <= sent, "seed {seed}: {result}");
    // A response after the timeout does not count.
    expect_time(counted == sent, || format!("seed {seed}: {counted} of {sent} came in time\n{result}"))
}

#[test]
fn nothing_is_lost_in_the_closed_model() {
    let seed = Stamp::now().0;
    check(seed, "-c 12 -d 2s --threads 2");
    check(seed.wrapping_add(1), "-c 5 -n 800 --threads 1");
}

#[test]
fn nothing_is_lost_in_the_open_model() {
    let seed = Stamp::now().0;
    check(seed, "-r 250/s -d 2s --arrivals poisson --threads 2");
    check(seed.wrapping_add(1), "-r 200/s -c 30 -d 2s --warmup 1s");
}

#[test]
fn nothing_is_lost_when_it_is_cut_short() {
    for (signals, words) in [(1, "-c 12 -d 60s"), (2, "-c 12 -d 60s --threads 2"), (2, "-r 300/s -d 60s")] {
        let seed = Stamp::now().0;
        let target = Target::start(Script::new(move |seen| misbehave(seed, seen)));
        let trial = trial();
        let words = format!("{words} --timeout 250ms --no-probe --seed {seed}");
        let running = trial.load(&target.url("/"), words.split_whitespace()).start();
        target.wait_for("load", Duration::from_mins(1), |truth| truth.requests > 200);
        for _ in 0..signals {
            running.signal(Signal::INT);
            // Two signals in quick succession would be one, since the kernel does not queue them.
            running.ends_within(ms(30));
        }
        let outcome = running.wait(Duration::from_mins(1));
        let result = outcome.expect_exit(130).result();
        result.conserved().agrees_with(&target.settled());
    }
}

#[test]
fn a_pool_of_one_against_silence_times_out_in_the_queue() {
    // One connection and no response. From the first timeout on, each arrival inherits the
    // connection when its own 300 ms are nearly over, one period before their end.
    let target = Target::start(Script::silence());
    retry_timing(|| {
        let words = "-r 50/s -c 1 -d 1s --arrivals even --timeout 300ms --max-open 100 --no-probe";
        let result = trial().try_run(&target, words, 1)?;
        assert_eq!(result.count("requests.offered"), 50, "{result}");
        // A late generator finds the time of the next arrival over while its connection opens.
        let [sent, unsent] = ["request_timeout", "connect_timeout"]
            .map(|class| result.count_or_zero(&format!("errors.{class}")));
        assert_eq!(sent + unsent, 50, "{result}");
        // The target may notice the end of a connection after the start of the next ones.
        assert_eq!(result.count("connections.peak"), 1, "{result}");
        expect_time(unsent == 0, || format!("{unsent} of 50 requests were not sent: {result}"))?;
        result.check_time("response_us.p50", ms(300))?;
        result.within("wait_us.p50", ms(275)..=ms(285))
    });
}

#[test]
fn as_few_requests_as_connections_are_exact() {
    let target = Target::start(Script::constant(ms(2)));
    for (words, wanted) in [("-c 1 -n 1", 1), ("-c 7 -n 7 --threads 2", 7), ("-c 3 -n 3 --threads 3", 3)] {
        let result = trial().run(&target, &format!("{words} --no-probe"), 0);
        assert_eq!(
            (result.count("requests.offered"), result.count("requests.done")),
            (wanted, wanted),
            "{words}"
        );
        assert_eq!(target.truth().requests, wanted, "{words}");
    }
}
