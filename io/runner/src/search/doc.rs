//! Builds the stored document of a search, in progress or finished.

use wavetank_record::{
    Blame, Number, RunRecord, SEARCH_SCHEMA, SearchAnswerDoc, SearchDoc, SearchRunDoc, SearchSetupDoc,
    WallTime,
};
use wavetank_report::{knee_contradicts, knee_curve, knee_drift, knee_headline, knee_queued};
use wavetank_search::{CONFIDENCE, RunRequest, SearchEnd, SearchResult, SearchVariable, StopReason};
use wavetank_units::{ExitCode, Nanos, Sentence};

use super::settings::SearchSettings;
use super::verdict::LevelOutcome;

/// Facts about a search apart from its result.
pub(super) struct SearchContext<'a> {
    pub(super) settings: &'a SearchSettings,
    pub(super) name: String,
    pub(super) id: String,
    pub(super) target: String,
    /// The thresholds, as written.
    pub(super) thresholds: Vec<String>,
    pub(super) started: WallTime,
    pub(super) runs: Vec<SearchRunDoc>,
    /// Remarks of the first level.
    pub(super) remarks: Vec<Sentence>,
    /// Notes that appeared in every run so far.
    pub(super) notes: Option<Vec<Sentence>>,
    /// Exit code of a run that broke off; the search exits with it.
    pub(super) broken_exit: Option<u8>,
}

impl SearchContext<'_> {
    /// Returns the document with `answer`, `took` after the start.
    pub(super) fn doc(&self, answer: &SearchResult, took: Nanos) -> SearchDoc {
        let args = self.settings;
        let seconds = |length: Nanos| Number(length.as_secs_f64());
        let chances: Vec<_> = answer.points.iter().map(|point| (point.level, point.chance)).collect();
        let mut doc = SearchDoc {
            schema: SEARCH_SCHEMA.to_owned(),
            name: self.name.clone(),
            id: self.id.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: args.command.clone(),
            seed: args.setup.seed,
            target: self.target.clone(),
            started_at: self.started.rfc3339(),
            took_s: seconds(took),
            of: args.sought.name().to_owned(),
            unit: if args.sought == SearchVariable::Rate { "per_s" } else { "count" }.to_owned(),
            answer: self.answer(answer),
            thresholds: self.thresholds.clone(),
            setup: SearchSetupDoc {
                from: Number(args.setup.from),
                to: Number(args.setup.to),
                factor: Number(args.setup.factor),
                levels: args.setup.levels,
                repeats: args.setup.repeats,
                step: Number(args.setup.step),
                level_s: seconds(args.limits.length),
                warmup_s: seconds(args.limits.warmup),
                settle_s: seconds(args.limits.settle),
                max_time_s: args.limits.max_time.map(seconds),
                quick: args.setup.quick,
            },
            curve: knee_curve(&self.runs, &chances),
            runs: self.runs.clone(),
            notes: self.remarks.iter().chain(self.notes.iter().flatten()).cloned().collect(),
        };
        if matches!(answer.end, SearchEnd::Found | SearchEnd::Above) && knee_contradicts(&doc.curve) {
            let end = SearchEnd::Stopped(StopReason::Unsteady);
            (doc.answer.end, doc.answer.exit) = (end.name().to_owned(), self.exit(end));
        }
        if doc.answer.end == StopReason::Unsteady.name() {
            forget_knee(&mut doc.answer);
        }
        doc.notes.splice(0..0, knee_queued(&doc));
        doc.notes.splice(0..0, knee_drift(&doc.of, &doc.runs, &doc.curve));
        doc.answer.headline = knee_headline(&doc);
        doc
    }

    fn answer(&self, answer: &SearchResult) -> SearchAnswerDoc {
        let (blame, limit) = self.limit(answer);
        SearchAnswerDoc {
            end: answer.end.name().to_owned(),
            exit: self.exit(answer.end),
            headline: String::new(),
            knee: answer.knee.map(Number),
            low: answer.low.map(Number),
            low_level: answer.low_level.map(Number),
            low_proven: answer.low_proven,
            high: answer.high.map(Number),
            high_proven: answer.high_proven,
            confidence: Number(CONFIDENCE),
            generator_at: answer.generator_at.map(Number),
            blame,
            limit,
        }
    }

    fn exit(&self, end: SearchEnd) -> u8 {
        exit(end, self.broken_exit)
    }

    /// Returns the bottleneck and what failed, taken from the failed runs next above the result.
    fn limit(&self, answer: &SearchResult) -> (Blame, Sentence) {
        let wanted = match answer.end {
            SearchEnd::Generator => "generator",
            SearchEnd::Stopped(StopReason::Broken) => "undecided",
            // The current state of the target ended the search, at whatever level.
            SearchEnd::Stopped(StopReason::Target) => {
                return self
                    .runs
                    .last()
                    .map_or((Blame::None, Sentence::empty()), |run| (run.blame, run.why.clone()));
            }
            // No limit was found: a run that failed at a level where others passed does not set
            // one.
            SearchEnd::Above => return (Blame::None, Sentence::empty()),
            _ => "fail",
        };
        let above = answer.knee.unwrap_or(0.0);
        let all = self.runs.iter().filter(|run| run.result == wanted && run.level.0 >= above);
        most_significant(all.collect())
            .map_or((Blame::None, Sentence::empty()), |run| (run.blame, run.why.clone()))
    }

    /// Adds a finished run.
    pub(super) fn add(
        &mut self,
        wanted: RunRequest,
        judged: &LevelOutcome,
        record: &RunRecord,
        archive: Option<String>,
    ) {
        self.runs.push(SearchRunDoc {
            level: Number(wanted.level),
            stage: wanted.stage.name().to_owned(),
            result: judged.seen.map_or("undecided", wavetank_search::RunOutcome::name).to_owned(),
            why: judged.why.clone(),
            status: record.verdict.status,
            blame: judged.blame,
            id: record.id.clone(),
            archive,
            started_at: record.started_at.clone(),
            duration_s: record.duration_s,
            requests: record.requests,
            rate: record.rate,
            response_us: record.response_us.clone(),
            service_us: record.service_us.clone(),
            lag_us: record.lag_us.clone(),
            busiest_thread: record.generator.busiest_thread,
            thresholds: record.thresholds.iter().chain(&judged.growth).cloned().collect(),
        });
        match &mut self.notes {
            Some(notes) => notes.retain(|note| record.notes.contains(note)),
            None => self.notes = Some(record.notes.clone()),
        }
    }
}

/// Returns the failed run that shows best what the limit is. Of the runs within 5 % of the lowest
/// level, this is one with the most frequent blame.
fn most_significant(mut runs: Vec<&SearchRunDoc>) -> Option<&SearchRunDoc> {
    // `max_by_key` returns the last of equals, so the highest levels come first.
    runs.sort_by(|a, b| b.level.0.total_cmp(&a.level.0));
    let nearest = runs.last()?.level.0;
    let near = || runs.iter().copied().filter(|run| run.level.0 <= nearest * 1.05);
    near().max_by_key(|run| near().filter(|one| one.blame == run.blame).count())
}

/// Removes the limit from a result that changes with time: its levels prove nothing.
fn forget_knee(answer: &mut SearchAnswerDoc) {
    (answer.knee, answer.low_proven, answer.high_proven) = (None, false, false);
}

/// Returns the exit code of the process; `broken` is that of a run that broke off.
fn exit(end: SearchEnd, broken: Option<u8>) -> u8 {
    match end {
        SearchEnd::Found | SearchEnd::Above => ExitCode::Pass as u8,
        SearchEnd::Below => ExitCode::Fail as u8,
        SearchEnd::Generator => ExitCode::Invalid as u8,
        SearchEnd::Stopped(StopReason::Signal) => ExitCode::Signal as u8,
        SearchEnd::Stopped(StopReason::Broken) => broken.unwrap_or(ExitCode::Incomplete as u8),
        SearchEnd::Stopped(
            StopReason::Stopped
            | StopReason::Time
            | StopReason::Runs
            | StopReason::Undecided
            | StopReason::Target
            | StopReason::Unsteady
            | StopReason::UnderWay,
        ) => ExitCode::Incomplete as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page that documents searches.
    const PAGE: &str = include_str!("../../../../docs/search.md");

    #[test]
    fn every_end_has_the_documented_exit_code() {
        let reported = |code: &str, end: SearchEnd| {
            let mut rows = PAGE.lines().filter(|line| line.starts_with(&format!("| {code} |")));
            rows.any(|row| row.contains(&format!("`{}`", end.name())))
        };
        for (end, expected) in [
            (SearchEnd::Found, 0),
            (SearchEnd::Above, 0),
            (SearchEnd::Below, 1),
            (SearchEnd::Generator, 3),
            (SearchEnd::Stopped(StopReason::Signal), 130),
            (SearchEnd::Stopped(StopReason::Stopped), 4),
            (SearchEnd::Stopped(StopReason::Time), 4),
            (SearchEnd::Stopped(StopReason::Runs), 4),
            (SearchEnd::Stopped(StopReason::Undecided), 4),
            (SearchEnd::Stopped(StopReason::Target), 4),
            (SearchEnd::Stopped(StopReason::Unsteady), 4),
            (SearchEnd::Stopped(StopReason::UnderWay), 4),
        ] {
            // The exit code of a run that did not break off has no influence.
            for broken in [None, Some(1)] {
                assert_eq!(exit(end, broken), expected, "{end:?}");
            }
            assert!(reported(&expected.to_string(), end), "{end:?}: the page lists another code");
        }
        let broken = SearchEnd::Stopped(StopReason::Broken);
        assert_eq!([1, 2, 3, 4].map(|code| exit(broken, Some(code))), [1, 2, 3, 4]);
        assert_eq!(exit(broken, None), 4);
        assert!(reported("1, 2, 3 or 4", broken));
    }

    #[test]
    fn what_changes_with_time_has_no_knee() {
        let [low, knee, high] = [4.0, 5.0, 6.0].map(|level| Some(Number(level)));
        let (low_proven, high_proven) = (true, true);
        let mut answer =
            SearchAnswerDoc { low, knee, high, low_proven, high_proven, ..SearchAnswerDoc::default() };
        forget_knee(&mut answer);
        let expected = SearchAnswerDoc { low, high, ..SearchAnswerDoc::default() };
        assert_eq!(answer, expected);
    }
    #[test]
    fn the_lowest_failed_level_names_its_condition() {
        let check = |runs: &[(f64, Blame)], reported: Option<(f64, Blame)>| {
            let run = |&(level, blame): &(f64, Blame)| SearchRunDoc {
                level: Number(level),
                blame,
                ..SearchRunDoc::default()
            };
            let runs: Vec<_> = runs.iter().map(run).collect();
            let found = most_significant(runs.iter().collect());
            assert_eq!(found.map(|run| (run.level.0, run.blame)), reported, "{runs:?}");
        };
        let (target, network) = (Blame::Target, Blame::Network);
        check(&[(504.0, target), (515.0, target), (800.0, target)], Some((504.0, target)));
        check(&[(515.0, target), (504.0, target), (507.0, target)], Some((504.0, target)));
        check(&[(504.0, network), (507.0, target), (511.0, target)], Some((507.0, target)));
        check(&[(504.0, target), (800.0, network), (900.0, network)], Some((504.0, target)));
        check(&[], None);
    }
}
