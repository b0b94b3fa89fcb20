//! [`compare_doc`]: the comparison as it is stored and printed.

use wavetank_record::{COMPARE_SCHEMA, CompareAnswer, CompareDoc, MetricDoc, Number, SideDoc};
use wavetank_units::{ExitCode, Nanos, Sentence};

use crate::metrics::{LEVEL, MetricComparison};
use crate::{DRAWS, IntervalSource, holm, required_runs};

/// Context of a comparison that is printed with the values.
#[derive(Clone, Debug, Default)]
pub struct CompareContext {
    /// Version of wavetank.
    pub version: String,
    /// Seed of what was drawn.
    pub seed: u64,
    /// The largest regression allowed, as a share; `None` if no limit was given.
    pub max_regression: Option<f64>,
    /// The runs of A, and of B.
    pub sides: [SideDoc; 2],
    /// What could make the comparison unfair.
    pub warnings: Vec<Sentence>,
    /// Worth knowing.
    pub notes: Vec<Sentence>,
    /// Commands worth trying next.
    pub next: Vec<Sentence>,
}

/// The comparison of `rows`.
pub fn compare_doc(rows: &[MetricComparison], reported: CompareContext) -> CompareDoc {
    let first_level = LEVEL / rows.iter().filter(|row| row.judged).count().max(1) as f64;
    let regressions = reported.max_regression.map(|limit| regressions(rows, limit));
    let mut metrics: Vec<MetricDoc> = rows.iter().map(|row| metric(row, first_level)).collect();
    for (at, regression) in regressions.iter().flatten().enumerate() {
        metrics[at].regression.clone_from(regression);
    }
    let answer = answer(rows, &metrics, reported.max_regression.is_some());
    let exit = match answer {
        CompareAnswer::Regression => ExitCode::Fail,
        CompareAnswer::Undecided if reported.max_regression.is_some() => ExitCode::Incomplete,
        _ => ExitCode::Pass,
    };
    let [a, b] = reported.sides;
    CompareDoc {
        schema: COMPARE_SCHEMA.to_owned(),
        version: reported.version,
        answer,
        exit: exit as u8,
        level: Number(1.0 - LEVEL),
        seed: reported.seed,
        draws: DRAWS,
        max_regression: reported.max_regression.map(Number),
        a,
        b,
        metrics,
        warnings: reported.warnings,
        notes: reported.notes,
        next: reported.next,
    }
}

fn answer(rows: &[MetricComparison], metrics: &[MetricDoc], asked: bool) -> CompareAnswer {
    let any = |word: &str| metrics.iter().any(|metric| metric.regression.as_deref() == Some(word));
    // A value that stayed at zero can be judged even for single runs, and must not decide for the
    // other values.
    let judged = || rows.iter().filter(|row| row.judged);
    let mut happened = judged().filter(|row| row.values != [Some(0.0); 2]).peekable();
    let reports = match happened.peek() {
        None => judged().next().is_some(),
        Some(_) => happened.any(|row| row.p_adjusted.is_some()),
    };
    match asked {
        true if any("shown") => CompareAnswer::Regression,
        _ if !reports => CompareAnswer::Undecided,
        true => CompareAnswer::NoRegression,
        false if rows.iter().any(MetricComparison::differs) => CompareAnswer::Difference,
        false => CompareAnswer::NoDifference,
    }
}

fn metric(row: &MetricComparison, first_level: f64) -> MetricDoc {
    let ratio = row.ratio.filter(|_| has_ratio(row));
    let interval = ratio.and_then(|ratio| ratio.interval(LEVEL));
    let p = row.p_differs();
    let verdict = match (row.judged, row.p_adjusted) {
        (false, _) => "not_judged",
        (true, None) => "undecided",
        (true, Some(_)) if row.differs() => "difference",
        (true, Some(_)) => "no_difference",
    };
    let block = row.estimates.map_or(Nanos::ZERO, |[a, b]| a.block.max(b.block));
    MetricDoc {
        name: row.name.clone(),
        unit: row.unit.to_owned(),
        better: if row.more_is_better { "more" } else { "less" }.to_owned(),
        a: row.values[0].map(Number),
        b: row.values[1].map(Number),
        ratio: ratio.map(|ratio| Number(ratio.value())),
        low: interval.map(|(low, _)| Number(low)),
        high: interval.map(|(_, high)| Number(high)),
        basis: row.ratio.map_or("nothing", |ratio| basis(ratio.basis)).to_owned(),
        p: p.map(Number),
        p_corrected: row.p_adjusted.map(Number),
        judged: row.judged,
        verdict: verdict.to_owned(),
        regression: None,
        smallest_seen: row.ratio.and_then(|ratio| ratio.minimum_detectable_effect(first_level)).map(Number),
        runs_needed: if row.judged && !row.differs() { needed(row, first_level) } else { None },
        block_s: Number(block.as_secs_f64()),
        why: row.why.clone(),
    }
}

/// Neither side is 0 or unknown.
fn has_ratio(row: &MetricComparison) -> bool {
    row.values.iter().all(|value| value.is_some_and(|value| value > 0.0))
}

const fn basis(basis: IntervalSource) -> &'static str {
    match basis {
        IntervalSource::Runs => "runs",
        IntervalSource::OtherSide => "other_side",
        IntervalSource::Blocks => "blocks",
        IntervalSource::Nothing => "nothing",
    }
}

/// Returns how many runs a side would show the observed difference. With one run a side it is a
/// lower bound, because blocks alone show how much a run varies.
fn needed(row: &MetricComparison, level: f64) -> Option<u32> {
    let [a, b] = row.estimates?;
    let of_one = |side: &crate::Estimate| Some(side.spread().or(side.within)? * side.runs as f64);
    let variances: Vec<f64> = [of_one(&a), of_one(&b)].into_iter().flatten().collect();
    let mean = variances.iter().sum::<f64>() / variances.len() as f64;
    (!variances.is_empty()).then(|| required_runs(row.ratio?.log, mean, level)).flatten()
}

/// For each row: whether a regression beyond `limit` is shown, can be excluded, or neither. A
/// regression is `limit` more of what should be less, or `limit` less of what should be more. Shown
/// means that the corrected two-sided chance of such a ratio without a regression is below 0.05.
/// The nearer end of the interval is then beyond the limit.
fn regressions(rows: &[MetricComparison], limit: f64) -> Vec<Option<String>> {
    let bound = |row: &MetricComparison| if row.more_is_better { 1.0 - limit } else { 1.0 + limit };
    let judged = |row: &&MetricComparison| row.judged;
    let p = rows.iter().filter(judged).map(|row| row.p_beyond(bound(row)).unwrap_or(1.0));
    let mut corrected = holm(&p.collect::<Vec<_>>()).into_iter();
    let reported = |row: &MetricComparison| {
        let p = if row.judged { corrected.next() } else { None }?;
        let interval = row.ratio.filter(|_| has_ratio(row)).and_then(|ratio| ratio.interval(LEVEL));
        Some(match interval {
            _ if row.p_adjusted.is_none() => "undecided",
            _ if p < LEVEL => "shown",
            Some((low, _)) if row.more_is_better && low > bound(row) => "excluded",
            Some((_, high)) if !row.more_is_better && high < bound(row) => "excluded",
            _ => "possible",
        })
    };
    rows.iter().map(reported).map(|word| word.map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Estimate, Ratio};

    fn row(name: &str, a: &[f64], b: &[f64]) -> MetricComparison {
        let [of_a, of_b] = [a, b].map(|figures| Estimate::from_scalars(figures).unwrap());
        let ratio = Ratio::between(&of_a, &of_b);
        MetricComparison {
            name: name.to_owned(),
            unit: "us",
            values: [Some(of_a.log.exp()), Some(of_b.log.exp())],
            more_is_better: name == "done_rate",
            ratio: Some(ratio),
            estimates: Some([of_a, of_b]),
            judged: true,
            p_adjusted: ratio.p_value(),
            figure: false,
            why: Sentence::empty(),
        }
    }

    #[track_caller]
    fn check(rows: &[MetricComparison], limit: Option<f64>, answer: CompareAnswer, exit: u8) -> CompareDoc {
        let doc = compare_doc(rows, CompareContext { max_regression: limit, ..CompareContext::default() });
        assert_eq!((doc.answer, doc.exit), (answer, exit), "{doc:?}");
        assert_eq!(CompareDoc::from_json(&doc.to_json()), Ok(doc.clone()));
        doc
    }

    #[test]
    fn what_is_shown_decides_the_answer() {
        let (a, same) = ([10.0, 10.1, 9.9, 10.05], [10.02, 9.95, 10.1, 9.98]);
        let more = a.map(|figure| figure * 1.25);
        check(&[row("p99", &a, &same)], None, CompareAnswer::NoDifference, 0);
        check(&[row("p99", &a, &more)], None, CompareAnswer::Difference, 0);
        check(&[row("p99", &a, &more)], Some(0.1), CompareAnswer::Regression, 1);
        check(&[row("p99", &a, &more)], Some(0.3), CompareAnswer::NoRegression, 0);
        // Faster is no regression, and a higher rate is none either.
        check(&[row("p99", &more, &a)], Some(0.1), CompareAnswer::NoRegression, 0);
        check(&[row("done_rate", &a, &more)], Some(0.1), CompareAnswer::NoRegression, 0);
        check(&[row("done_rate", &more, &a)], Some(0.1), CompareAnswer::Regression, 1);
    }

    #[test]
    fn single_runs_decide_nothing() {
        check(&[row("p99", &[10.0], &[20.0])], None, CompareAnswer::Undecided, 0);
        let doc = check(&[row("p99", &[10.0], &[20.0])], Some(0.1), CompareAnswer::Undecided, 4);
        assert_eq!(
            (doc.metrics[0].verdict.as_str(), doc.metrics[0].regression.as_deref()),
            ("undecided", Some("undecided"))
        );
        check(&[], None, CompareAnswer::Undecided, 0);
    }

    /// A value that was zero in this many runs.
    fn none(runs: usize) -> MetricComparison {
        let half = vec![0.5; runs];
        MetricComparison { values: [Some(0.0); 2], p_adjusted: Some(1.0), ..row("failed", &half, &half) }
    }

    #[test]
    fn none_and_none_are_no_regression_and_speak_for_nothing_else() {
        for runs in [1, 3] {
            check(&[none(runs)], None, CompareAnswer::NoDifference, 0);
            let doc = check(&[none(runs)], Some(0.1), CompareAnswer::NoRegression, 0);
            let failed = &doc.metrics[0];
            assert_eq!((failed.verdict.as_str(), failed.ratio), ("no_difference", None));
            assert_eq!(failed.regression.as_deref(), Some("possible"));
        }
        let single = row("p99", &[10.0], &[10.0]);
        check(&[none(1), single.clone()], Some(0.1), CompareAnswer::Undecided, 4);
        // A value that is unknown in one run does not hide the known ones.
        let unknown =
            MetricComparison { ratio: None, p_adjusted: None, ..row("p50", &[10.0; 3], &[10.0; 3]) };
        let differs = row("p99", &[10.0, 10.1, 9.9], &[20.0, 20.1, 19.9]);
        check(&[unknown, differs], None, CompareAnswer::Difference, 0);
        check(&[none(1), single], None, CompareAnswer::Undecided, 0);
    }

    #[test]
    fn what_is_not_shown_may_still_be_possible() {
        let word = |a: &[f64], b: &[f64]| {
            let doc = compare_doc(
                &[row("p99", a, b)],
                CompareContext { max_regression: Some(0.1), ..CompareContext::default() },
            );
            doc.metrics[0].regression.clone().unwrap()
        };
        assert_eq!(word(&[10.0, 10.1, 9.9], &[10.0, 10.1, 9.9]), "excluded");
        assert_eq!(word(&[10.0, 12.0, 9.0], &[11.0, 13.0, 10.0]), "possible");
    }
}
