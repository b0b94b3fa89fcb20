//! Why a load ended before its plan did.

use crate::common::Second;
use crate::contract::case::run;
use wavetank_diagnose::RunEnd;
use wavetank_measure::ErrorClass;
use wavetank_units::Sentence;

/// Every view of a run says why its load ended before the plan did.
#[test]
fn a_load_that_was_cut_short_has_its_reason() {
    let check = |ending: RunEnd, why: Option<&str>| {
        let run = run([]).ending(ending);
        assert_eq!(run.diagnosis().cut_short.as_deref(), why, "{:?}", run.ending);
    };
    check(RunEnd::Finished, None);
    check(RunEnd::Signal, Some("interrupted by a signal"));
    check(RunEnd::Stopped, Some("stopped by hand"));
    check(RunEnd::AgentLost, Some("stopped because an agent was lost"));
    let class = ErrorClass::Status;
    check(
        RunEnd::Hopeless { class },
        Some("gave up because no request was done: unexpected response status"),
    );
    let (step, scenario) = ("pay".to_owned(), "shop".to_owned());
    check(
        RunEnd::StepFailed { step, scenario },
        Some("pay of shop failed, and its `on_failure` ends the run"),
    );
    check(RunEnd::ProbeFailed { class, message: Sentence::quoted("status 500") }, None);
    let lost = run([]).around(|around| around.lost = vec![Sentence::quoted("agent b is gone")]);
    assert_eq!(lost.diagnosis().cut_short.as_deref(), Some("lost: agent b is gone"));
    let running = run([]).around(|around| around.running = true);
    assert_eq!(running.said(), "incomplete none 4: running");
    let stopped =
        run([(3, Second::at(3).failed(100, ErrorClass::Status, 5))]).stopping("failed > 50% for 1s");
    assert_eq!(stopped.diagnosis().cut_short.as_deref(), Some("`failed > 50% for 1s`"));
}
