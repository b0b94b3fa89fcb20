//! [`width`]: what makes an interval as wide as it is, as far as the runs tell it.

use wavetank_record::{Number, SearchDoc, SearchPointDoc};

use super::observed_levels::is_low_queued;

/// Levels that are told.
const LEVELS_MAX: usize = 3;
/// So much of an interval is worth telling where it comes from.
const PART_MIN: f64 = 0.1;

/// What makes an interval as wide as it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Width<'d> {
    /// Levels of the interval at which runs did not hold although others of it, there or above, did: the first few of them.
    pub(super) disagree: Vec<&'d SearchPointDoc>,
    /// How many more of those there are.
    pub(super) more: usize,
    /// From how many levels below the upper end the lower end comes, those on the way up among them.
    pub(super) apart: usize,
    /// The level that held, where a good part of the interval is what may have queued there.
    pub(super) queued: Option<Number>,
}

/// `None` where there is no interval, or not both of its ends are proven: then that is why. Nor can it be told where runs on the way
/// up alone, which prove no end, contradict others.
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

/// Those of `points` at which runs did not hold although others of them, there or above, did.
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

    /// With an interval from `low` to 500 that 200 held, by levels: level, runs that held of three, and whether it was in the
    /// random order.
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
        let told = width(&doc).expect("an interval");
        let levels: Vec<_> = told.disagree.iter().map(|point| point.level.0).collect();
        assert_eq!((&levels[..], told.apart, told.queued.is_some()), (disagree, apart, queued), "{told:?}");
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
        // None held, but above it some did.
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
        let told = |passed: u32, random: bool| {
            let levels = [(200.0, 3, true), (300.0, passed, random), (500.0, 0, true)];
            width(&doc(200.0, &levels)).map(|told| told.disagree.len())
        };
        assert_eq!([told(1, true), told(1, false), told(3, false)], [Some(1), None, Some(0)]);
    }

    #[test]
    fn few_of_many_levels_are_told() {
        let many = [(200.0, 3), (250.0, 2), (300.0, 1), (350.0, 2), (400.0, 1), (500.0, 0)];
        let many = many.map(|(level, passed)| (level, passed, true));
        check(200.0, &many, &[250.0, 300.0, 350.0], 5, false);
    }
}
