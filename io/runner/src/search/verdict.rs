//! Judges the target by the run of a level.

use wavetank_record::{Blame, Number, RunRecord, Status, Threshold};
use wavetank_search::{GROWTH_MAX, QueueGrowth, RunOutcome, StopReason};
use wavetank_units::quantity::show_share;
use wavetank_units::{Sentence, phrase, sentence};

/// The condition that every rate has, without being requested.
const GROWTH: &str = "queue growth < 0.5%";

/// A run judged for the search.
pub(super) struct LevelOutcome {
    /// The outcome; `Err` if the search cannot continue.
    pub(super) seen: Result<RunOutcome, StopReason>,
    /// Why the run did not pass, in one line.
    pub(super) why: Sentence,
    pub(super) blame: Blame,
    /// Whether requests were due and none was done.
    pub(super) silent: bool,
    /// Share (0 to 1) of the offered load that was done in time; 1 if users wait for their
    /// responses.
    pub(super) kept: f64,
    /// For a rate: the condition on the growth of the queue, with its result.
    pub(super) growth: Option<Threshold>,
}

impl LevelOutcome {
    /// The run ended early, whatever else its verdict says.
    pub(super) fn break_off(&mut self, why: StopReason) {
        (self.seen, self.blame) = (Err(why), Blame::None);
        self.why = sentence!("{}", why.name());
    }
}

/// Judges `record`. `resolved`: in the open loop, the number of requests answered, failed or
/// dropped in its window. `behind`: the blame for a growing queue.
pub(super) fn judged(record: &RunRecord, resolved: Option<u64>, behind: Blame) -> LevelOutcome {
    let flow = resolved.map(|resolved| flow(record, resolved));
    let growth = flow.map(|flow| Threshold {
        expr: GROWTH.to_owned(),
        value: Some(Number(flow.growth())),
        ok: Some(!flow.overloaded()),
        implicit: true,
        unit: "share".to_owned(),
        why: Sentence::empty(),
    });
    let overloaded = flow.is_some_and(|flow| flow.overloaded());
    let verdict = &record.verdict;
    let reason = |word: &str| verdict.reasons.iter().any(|reason| reason == word);
    let (seen, why, blame) = match verdict.status {
        Status::Pass if overloaded => (Ok(RunOutcome::Fail), grown(flow), behind),
        Status::Incomplete if reason("undecided") && overloaded => {
            (Ok(RunOutcome::Fail), grown(flow), behind)
        }
        Status::Pass => (Ok(RunOutcome::Pass), Sentence::empty(), Blame::None),
        Status::Fail if reason("probe") => (Err(StopReason::Broken), verdict.headline.clone(), verdict.blame),
        Status::Fail => (Ok(RunOutcome::Fail), verdict.headline.clone(), verdict.blame),
        Status::Invalid if reason("accounting") => {
            (Err(StopReason::Broken), verdict.headline.clone(), verdict.blame)
        }
        Status::Invalid => (Ok(RunOutcome::Generator), verdict.headline.clone(), Blame::Generator),
        Status::Incomplete if reason("signal") => {
            (Err(StopReason::Signal), phrase!("interrupted"), Blame::None)
        }
        Status::Incomplete if reason("undecided") => {
            (Ok(RunOutcome::Undecided), verdict.headline.clone(), Blame::None)
        }
        Status::Incomplete => (Err(StopReason::Broken), verdict.headline.clone(), verdict.blame),
    };
    let silent = record.requests.offered > 0 && record.requests.done == 0;
    let kept = flow.map_or(1.0, |flow| flow.done_in_time_share());
    LevelOutcome { seen, why, blame, silent, kept, growth }
}

fn flow(record: &RunRecord, resolved: u64) -> QueueGrowth {
    let window_s = record.duration_s.0;
    QueueGrowth {
        offered: record.rate.offered_per_s.0 * window_s,
        resolved: resolved as f64,
        window_s,
        response_s: record.response_us.spread.as_ref().map_or(0.0, |spread| spread.mean.0 / 1e6),
        fastest_s: record.response_us.spread.as_ref().map_or(0.0, |spread| spread.min.0 / 1e6),
    }
}

fn grown(flow: Option<QueueGrowth>) -> Sentence {
    let growth = flow.map_or(0.0, |flow| flow.growth());
    sentence!(
        "the queue grew by {} of the offered load, more than {}: the target does not keep up",
        show_share(growth),
        show_share(GROWTH_MAX)
    )
}

#[cfg(test)]
mod tests {
    use wavetank_record::{RateDoc, Requests, VerdictDoc};

    use super::*;

    /// Of 1,000 requests in a second, 900 were answered in it. 100 failed, in it or in the drain,
    /// in which a queue ends that grew all the time.
    #[test]
    fn what_fails_after_the_window_was_a_queue_in_it() {
        let record = RunRecord {
            verdict: VerdictDoc { status: Status::Pass, ..VerdictDoc::default() },
            duration_s: Number(1.0),
            rate: RateDoc { offered_per_s: Number(1_000.0), done_per_s: Number(900.0) },
            requests: Requests { offered: 1_000, done: 900, failed: 100, ..Requests::default() },
            ..RunRecord::default()
        };
        let seen = |resolved| judged(&record, resolved, Blame::Target).seen;
        assert_eq!(seen(Some(1_000)), Ok(RunOutcome::Pass));
        assert_eq!(seen(Some(900)), Ok(RunOutcome::Fail));
        assert_eq!(seen(None), Ok(RunOutcome::Pass), "users wait for their answers");
    }
}
