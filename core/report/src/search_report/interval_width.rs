//! [`width`]: the causes of the width of an interval, if the runs show them.

use wavetank_record::{Number, SearchDoc, SearchPointDoc};

use super::observed_levels::is_low_queued;

/// Most levels shown.
const LEVELS_MAX: usize = 3;
/// Share of an interval from which on its cause is shown.
const PART_MIN: f64 = 0.1;

/// The causes of an interval's width.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Width<'d> {
    /// The first levels of the interval with failed runs, although other runs there or above
    /// passed.
    pub(super) disagree: Vec<&'d SearchPointDoc>,
    /// Number of further such levels.
    pub(super) more: usize,
    /// Number of levels between the lower and the upper end, including those of the ramp-up.
    pub(super) apart: usize,
    /// The level that passed, if a large part of the interval is possible queueing at it.
    pub(super) queued: Option<Number>,
}

/// Returns the causes of the interval's width. `None` if there is no interval, or if an end is not
/// proven, which is then the cause. Also `None` if only runs of the ramp-up, which prove no end,
/// contradict others.
pub(super) fn width(doc: &SearchDoc) -> Option<Width<'_>> {
    let answer = &doc.answer;
    let (low, high) = (answer.low?, answer.high.filter(|_| answer.low_proven && answer.high_proven)?);
    let held = answer.low_level.unwrap_or(low);
    let is_within = |point: &&SearchPointDoc| point.runs > 0 && (held.0..=high.0).contains(&point.level.0);
    let within: Vec<_> = doc.curve.iter().filter(is_within).collect();
    let counted: Vec<_> = within.iter().copied().filter(|point| point.chance.is_some()).collect();
    let mut disagree = contradicted(&counted);
    if answer.end != "found" || counted.is_empty() || disagree.is_empty() && !contradicted(&within).is_empty()
    {
        return None;
    }
    let more = disagree.len().saturating_sub(LEVELS_MAX);
    disagree.truncate(LEVELS_MAX);
    let is_much = held.0 - low.0 >= PART_MIN * (high.0 - low.0);
    let queued = Some(held).filter(|_| is_low_queued(doc) && is_much);
    Some(Width { disagree, more, apart: within.len() - 1, queued })
}

/// Those of `points` with failed runs, although other runs there or above passed.
fn contradicted<'d>(points: &[&'d SearchPointDoc]) -> Vec<&'d SearchPointDoc> {
    let held = points.iter().filter(|point| point.passed > 0);
    let highest = held.map(|point| point.level.0).fold(0.0, f64::max);
    let is_contradicted = |point: &&SearchPointDoc| point.passed < point.runs && point.level.0 <= highest;
    points.iter().copied().filter(is_contradicted).collect()
}

#[cfg(test)]
mod tests {
    use wavetank_record::SearchAnswerDoc;

    use super::*;

    /// A search with an interval from `low` to 500, and with 200 passing. Levels are: level, passed
    /// runs of three, and whether it was in the random order.
    fn doc(low: f64, levels: &[(f64, u32, bool)]) -> SearchDoc {
        let point = |&(level, passed, random): &(f64, u32, bool)| SearchPointDoc {
            level: Number(level),
            runs: 3,
            passed,
            chance: random.then_some(Number(0.5)),
            ..SearchPointDoc::default()
        };
        let answer = SearchAnswerDoc {
            end: "found".to_owned(),
            low: Some(Number(low)),
            low_level: Some(Number(200.0)),
            high: Some(Number(500.0)),
            low_proven: true,
            high_proven: true,
            ..SearchAnswerDoc::default()
        };
        SearchDoc { answer, curve: levels.iter().map(point).collect(), ..SearchDoc::default() }
    }

    #[track_caller]
    fn check(low: f64, levels: &[(f64, u32, bool)], disagree: &[f64], apart: usize, queued: bool) {
        let mut doc = doc(low, levels);
        let listed = width(&doc).expect("an interval");
        let levels: Vec<_> = listed.disagree.iter().map(|point| point.level.0).collect();
        assert_eq!(
            (&levels[..], listed.apart, listed.queued.is_some()),
            (disagree, apart, queued),
            "{listed:?}"
        );
        doc.answer.high_proven = false;
        assert_eq!(width(&doc), None);
    }

    #[test]
    fn runs_that_disagree_make_an_interval_wide() {
        let agree = [(200.0, 3, true), (300.0, 3, true), (400.0, 0, true), (500.0, 0, true)];
        check(200.0, &agree, &[], 3, false);
        check(160.0, &agree, &[], 3, true);
        check(199.0, &agree, &[], 3, false);
        check(
            200.0,
            &[(200.0, 3, true), (300.0, 2, true), (400.0, 0, true), (500.0, 0, true)],
            &[300.0],
            3,
            false,
        );
        // No run passed at a level, but some passed above it.
        let below = [(200.0, 3, true), (300.0, 0, true), (400.0, 1, true), (500.0, 0, true)];
        check(200.0, &below, &[300.0, 400.0], 3, false);
        // Outside.
        let outside =
            [(100.0, 1, true), (200.0, 3, true), (300.0, 0, true), (500.0, 0, true), (600.0, 1, true)];
        check(200.0, &outside, &[], 2, false);
        // On the way up.
        let way_up = [(200.0, 3, true), (300.0, 0, false), (400.0, 0, true), (500.0, 0, true)];
        check(200.0, &way_up, &[], 3, false);
    }

    #[test]
    fn runs_that_prove_no_end_widen_nothing() {
        let listed = |passed: u32, random: bool| {
            let levels = [(200.0, 3, true), (300.0, passed, random), (500.0, 0, true)];
            width(&doc(200.0, &levels)).map(|listed| listed.disagree.len())
        };
        assert_eq!([listed(1, true), listed(1, false), listed(3, false)], [Some(1), None, Some(0)]);
    }

    #[test]
    fn few_of_many_levels_are_reported() {
        let many = [(200.0, 3), (250.0, 2), (300.0, 1), (350.0, 2), (400.0, 1), (500.0, 0)];
        let many = many.map(|(level, passed)| (level, passed, true));
        check(200.0, &many, &[250.0, 300.0, 350.0], 5, false);
    }
}
