//! Searches of targets that die, or come and go.

use wavetank_search::{
    Granularity, RunOutcome, RunRequest, SearchEnd, SearchResult, SearchWithLiveness, Setup, Stage,
    StopReason,
};

/// Searches a target that returns, by the number and level of each run, its outcome and whether it
/// was silent.
fn search(target: &dyn Fn(usize, f64) -> (RunOutcome, bool)) -> (SearchResult, Vec<RunRequest>) {
    let mut search = SearchWithLiveness::new(Setup::new(Granularity::Rate, 100.0, 5_000.0));
    let mut asked = Vec::new();
    while let Some(wanted) = search.next() {
        let (seen, silent) = target(asked.len(), wanted.level);
        asked.push(wanted);
        search.result(seen, silent, 1.0);
    }
    (search.answer(), asked)
}

/// Holds up to 1,000/s.
fn alive(level: f64) -> (RunOutcome, bool) {
    (if level <= 1_000.0 { RunOutcome::Pass } else { RunOutcome::Fail }, false)
}

const DEAD: (RunOutcome, bool) = (RunOutcome::Fail, true);

/// The target dies at each possible run. The search notices within three runs and returns what was
/// known before.
#[test]
fn a_target_that_died_ends_the_search() {
    let whole = search(&|_, level| alive(level)).1.len();
    assert!(whole > 20, "{whole} runs");
    for last in 1..whole {
        for dead in [DEAD, (RunOutcome::Undecided, true), (RunOutcome::Generator, true)] {
            let (answer, asked) = search(&|at, level| if at < last { alive(level) } else { dead });
            assert_eq!(
                answer.end,
                SearchEnd::Stopped(StopReason::Target),
                "dead after {last} of {whole}: {answer:?}"
            );
            assert!(asked.len() <= last + 3, "dead after {last}: {} runs", asked.len());
            let check = asked.last().expect("there are some");
            assert_eq!((check.level, check.stage), (100.0, Stage::Check), "dead after {last}");
            let (low, high) = (answer.low.unwrap_or(0.0), answer.high.unwrap_or(f64::MAX));
            assert!((100.0..=1_000.0).contains(&low) && high >= 1_000.0, "dead after {last}: {answer:?}");
        }
    }
}

/// A target that refuses everything beyond its knee is valid. A few more runs make sure of it.
#[test]
fn too_much_load_may_leave_nothing_done() {
    let (plain, usual) = search(&|_, level| alive(level));
    let (answer, asked) = search(&|_, level| if level <= 1_000.0 { alive(level) } else { DEAD });
    assert_eq!((answer.end, answer.low, answer.high), (plain.end, plain.low, plain.high));
    assert!(asked.len() <= usual.len() + 5, "{} runs, {} else", asked.len(), usual.len());
    // One that never answered did not stop.
    let (answer, asked) = search(&|_, _| DEAD);
    assert_eq!((answer.end, asked.len()), (SearchEnd::Below, 3));
}

/// Back again whenever it is asked at its lowest level.
#[test]
fn a_target_that_comes_and_goes_has_no_answer() {
    let (answer, asked) =
        search(&|at, level| if level > 150.0 && at > 5 && at % 3 != 0 { DEAD } else { alive(level) });
    assert_eq!(answer.end, SearchEnd::Stopped(StopReason::Unsteady), "{answer:?} {asked:?}");
}
