//! Forecasts of the examples before anything is sent: the numbers that their comments and the
//! grammar's page promise.

use crate::support;

use support::example_text;
use support::plans::plan_of;
use wavetank_capacity::forecast::{CapReached, Forecast};
use wavetank_plan::Plan;
use wavetank_units::Nanos;

/// A file of one target with these lines.
#[track_caller]
fn small(lines: &str) -> (Plan, Forecast) {
    let plan = plan_of("small.yaml", &format!("wavetank: 1\ntarget: http://127.0.0.1:8080\n{lines}"));
    let forecast = Forecast::for_plan(&plan);
    (plan, forecast)
}

/// Expected sessions of each phase (`None`: responses decide), and the ends of the load and of
/// everything, in seconds.
#[track_caller]
fn check(name: &str, sessions: &[Option<u64>], load_end: Option<i64>, end: Option<i64>) -> Forecast {
    let plan = plan_of(name, &example_text(name));
    let forecast = Forecast::for_plan(&plan);
    let reported: Vec<Option<u64>> =
        forecast.phases.iter().map(|phase| phase.sessions.mean.map(|mean| mean.round() as u64)).collect();
    assert_eq!(reported, sessions, "{name}");
    let seconds = |at: Option<Nanos>| at.map(|at| (at.as_secs_f64()).round() as i64);
    assert_eq!((seconds(forecast.load_end), seconds(forecast.end)), (load_end, end), "{name}");
    forecast
}

#[test]
fn every_example_has_the_documented_result() {
    let tsung =
        check("tsung-static.yaml", &[Some(4_800), Some(4_800), Some(5_400)], Some(3_000), Some(3_000));
    assert_eq!(tsung.sessions.mean, Some(15_000.0));
    assert!(
        tsung.phases.iter().all(|phase| phase.cap.is_some_and(|cap| cap.1 == CapReached::No)),
        "{tsung:?}"
    );
    assert!(tsung.scenarios[0].is_loop() && tsung.phases[0].requests_per_s_max.is_none(), "{tsung:?}");

    let by_rate =
        check("lb-million-by-rate.yaml", &[Some(1_000_000), Some(12_000_000)], Some(1_300), Some(1_450));
    assert!(by_rate.requests.is_exact() && by_rate.requests.mean == Some(13_000_000.0), "{by_rate:?}");
    assert_eq!(by_rate.phases[0].opening.per_s_max, Some(10_000.0));

    let million = check("lb-million.yaml", &[None, None, None], Some(1_320), Some(1_380));
    let most: Vec<u64> = million.phases.iter().map(|phase| phase.level_max).collect();
    assert_eq!(most, [1_000_000; 3]);
    // A ping a minute on each of a million connections.
    let rate = million.phases[1].requests_per_s_max.expect("thinking bounds it");
    assert!((rate - 1e6 / 60.0).abs() < 1e-6, "{rate}");
    let opened: Vec<Option<f64>> = million.phases.iter().map(|phase| phase.opening.per_s_max).collect();
    assert_eq!(opened, [Some(10_000.0), Some(0.0), Some(0.0)], "kept connections are not opened again");

    let haproxy = check("haproxy-7m.yaml", &[None, None], Some(774), Some(834));
    assert_eq!((haproxy.phases[0].starts, haproxy.phases[1].starts), (3_480_000, 0));

    let nginx = check("nginx-million.yaml", &[None], Some(20), Some(80));
    assert_eq!(nginx.phases[0].opening.ahead, Some((10_000, Nanos::from_secs(2))));
    assert_eq!(
        (nginx.phases[0].requests_per_s_max, nginx.requests.most),
        (None, None),
        "only answers bound it"
    );

    // Crowd, gather, rush: 90,000 browsers, 100,000 buyers of three requests each.
    let sale = check("flash-sale.yaml", &[Some(90_000), Some(100_000), Some(0)], Some(180), Some(210));
    assert!(sale.requests.is_exact() && sale.requests.mean == Some(390_000.0), "{:?}", sale.requests);

    // Stairs, a spawn rate and its ten minutes, sessions of five requests, connections of one.
    let shapes = check(
        "shapes.yaml",
        &[None, None, Some(100_000), Some(100_000), None, None, None],
        Some(620),
        Some(680),
    );
    assert_eq!(shapes.phases[0].starts, 300);
    assert_eq!(
        (shapes.phases[2].requests.mean, shapes.phases[2].requests_per_s_max),
        (Some(500_000.0), Some(5_000.0))
    );
    assert_eq!(shapes.phases[3].opening.per_s_max, Some(20_000.0));
}

/// A user carried over into a phase with `sessions: N each` repeats that often there too, as the
/// run counts it.
#[test]
fn users_of_the_phase_before_are_among_each() {
    let users = "steps: [{get: /}, {think: 1s}]\nphases:\n  - {users: 0 to 10, for: 1s}\n";
    let (_, reported) = small(&format!("{users}  - {{users: 10, for: 1m, sessions: 5 each}}\n"));
    let sessions = reported.phases[1].sessions;
    assert_eq!((sessions.least, sessions.most), (0.0, Some(50.0)), "{reported:?}");
    let (_, reported) = small(&format!("{users}  - {{users: 15, for: 1m, sessions: 5 each}}\n"));
    assert_eq!(reported.phases[1].sessions.most, Some(75.0), "{reported:?}");
    let (_, reported) = small("steps: [{get: /}]\nphases: [{users: 10, for: 1m, sessions: 1 each}]\n");
    assert!(reported.phases[0].sessions.is_exact() && reported.sessions.mean == Some(10.0), "{reported:?}");
}

#[test]
fn a_phase_that_sessions_end_reaches_their_number() {
    for (length, reached) in
        [("", CapReached::Yes), (", for: 5s", CapReached::Yes), (", for: 4s", CapReached::No)]
    {
        let lines = format!("steps: [{{get: /}}]\nphases: [{{rate: 10/s, sessions: 50{length}}}]\n");
        let (_, reported) = small(&lines);
        assert_eq!(reported.phases[0].cap, Some((50, reached)), "{lines}");
    }
}

#[test]
fn chance_and_answers_have_bounds() {
    let (_, reported) = small(
        "steps:\n  - get: /\n  - choose:\n    - {weight: 3, steps: [{get: /a}, {get: /b}]}\n    - {weight: 1, steps: []}\n  - if: status = 200\n    \
         steps: [{get: /c}]\n  - while: status = 200\n    at_most: 4\n    steps: [{get: /d}]\nphases: [{rate: 10/s, for: 10s}]\n",
    );
    let requests = reported.scenarios[0].session.requests;
    assert_eq!((requests.least, requests.mean, requests.most), (1.0, None, Some(8.0)));
    let (_, reported) = small(
        "steps:\n  - get: /\n  - choose:\n    - {weight: 3, steps: [{get: /a}, {get: /b}]}\n    - {weight: 1, steps: [{get: /c}]}\n\
         phases: [{rate: 10/s, for: 10s}]\n",
    );
    let requests = reported.scenarios[0].session.requests;
    assert_eq!((requests.least, requests.mean, requests.most), (2.0, Some(2.75), Some(3.0)));
    assert_eq!(reported.requests.mean, Some(275.0));
    let (_, reported) = small(
        "steps:\n  - get: /\n  - repeat: 3\n    steps: [{get: /a}, {end: session}]\n  - get: /b\nphases: [{rate: 1/s, for: 4s}]\n",
    );
    assert!(
        reported.requests.is_exact() && reported.requests.mean == Some(8.0),
        "what ends a session ends its repeating: {reported:?}"
    );
}

#[test]
fn the_timeline_adds_up() {
    for lines in [
        "steps: [{get: /}]\nphases:\n  - {rate: 0/s to 500/s, for: 37s}\n  - {rate: 100/s to 300/s, for: 20s, wave: 5s}\n",
        "steps: [{get: /}]\nphases:\n  - {rate: 50/s, for: 30s, spike: 1k/s for 2s every 10s}\n",
        "steps: [{get: /}, {get: /b}]\nphases:\n  - {rate: 7/min, for: 10m}\n  - {pause: 5s}\n  - {rate: 3/s, for: 10s, arrivals: poisson}\n",
    ] {
        let (_, reported) = small(lines);
        let line = &reported.timeline;
        let until = reported.load_end.expect("by time");
        let mut sums = (0.0, 0.0);
        for (at, point) in line.points.iter().enumerate() {
            let begin = line.from.0 + line.every.0 * at as i64;
            let seconds = (line.end_of(at, until).0 - begin) as f64 / 1e9;
            sums.0 += point.sessions_per_s * seconds;
            sums.1 += point.requests_per_s.expect("no answers decide") * seconds;
        }
        let expected = (reported.sessions.mean.expect("known"), reported.requests.mean.expect("known"));
        assert!(
            (sums.0 - expected.0).abs() < 1e-3 && (sums.1 - expected.1).abs() < 1e-3,
            "{lines}: {sums:?} {expected:?}"
        );
    }
}
