//! [`compare`]: compares every value of two sides and states what can be said about their
//! difference.

use std::collections::BTreeMap;

use wavetank_measure::Histogram;
use wavetank_pace::Philox;
use wavetank_record::MetricDoc;
use wavetank_units::{Sentence, phrase};

use crate::run_series::{LatencyBuckets, RunSeries, ScopeSeries};
use crate::{ColumnCounts, DRAWS, Estimate, Metric, Ratio, holm};

/// The chance of being wrong anywhere that is taken.
pub(crate) const LEVEL: f64 = 0.05;
/// A percentile with fewer values above it on a side is not compared.
const ABOVE_MIN: u64 = wavetank_plan::constants::UNCERTAIN_BELOW;

/// Listed, and judged only on request. It is between two judged percentiles and follows them, and
/// each further judged value makes the others harder to distinguish from chance.
const SHOWN_ONLY: &str = "p95";

/// One run of a side.
#[derive(Clone, Debug, Default)]
pub struct SideRun {
    /// Its counts over time.
    pub cut: RunSeries,
    /// Values with one number per run, e.g. `memory(generator)`: the value and its unit, by name.
    pub figures: BTreeMap<String, (f64, &'static str)>,
}

/// Options of the judgement.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// Names of the values that are judged; empty: all but figures and p95.
    pub metrics: Vec<String>,
    /// Seed of what is drawn.
    pub seed: u64,
    /// Names of steps, by scenario and step. Steps without a name are not compared separately.
    pub steps: BTreeMap<(u16, u16), String>,
}

/// One value of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricComparison {
    /// Its name as conditions write it: `p99`, `done_rate`, `p99(service)`, `failed(login)`.
    pub name: String,
    /// `us`, `per_s`, `share`, `bytes` or `s`.
    pub unit: &'static str,
    /// The values of A and B; `None` where one is not known.
    pub values: [Option<f64>; 2],
    /// More of it is better.
    pub more_is_better: bool,
    /// B/A; `None` where a side has no value.
    pub ratio: Option<Ratio>,
    /// Estimates behind it.
    pub estimates: Option<[Estimate; 2]>,
    /// It is in the family that is corrected for.
    pub judged: bool,
    /// Corrected chance of such a difference by chance alone; `None` if it is not judged or the
    /// runs cannot show it.
    pub p_adjusted: Option<f64>,
    /// It is a figure that each run has one of, not a value read from what was counted over time.
    pub figure: bool,
    /// Why it is not judged; empty if it is.
    pub why: Sentence,
}

impl MetricComparison {
    /// A difference is shown.
    pub fn differs(&self) -> bool {
        self.p_adjusted.is_some_and(|p| p < LEVEL)
    }

    /// Returns the chance of such a difference by chance alone; `None` if the runs cannot show it.
    pub(crate) fn p_differs(&self) -> Option<f64> {
        self.p(Ratio::p_value)
    }

    /// Returns the chance of a ratio this far beyond `limit` if the true ratio is not, as in
    /// [`Ratio::p_value_beyond`].
    pub(crate) fn p_beyond(&self, limit: f64) -> Option<f64> {
        self.p(|ratio| ratio.p_value_beyond(limit))
    }

    /// For a count of zero the ratio uses half an event, which is a large share of a small count
    /// and a small share of a large one. It could separate two sides on which nothing happened, or
    /// rank a side with no events above one with more.
    fn p(&self, of: impl Fn(&Ratio) -> Option<f64>) -> Option<f64> {
        let (ratio, [Some(a), Some(b)]) = (self.ratio?, self.values) else { return of(&self.ratio?) };
        match (a, b) {
            // However few runs there are: nothing was seen to differ.
            (0.0, 0.0) => Some(1.0),
            (0.0, _) | (_, 0.0) if (b - a) * ratio.log <= 0.0 => of(&ratio).map(|_| 1.0),
            _ => of(&ratio),
        }
    }
}

/// Compare side `b` with side `a`.
pub fn compare(a: &[SideRun], b: &[SideRun], wishes: &CompareOptions) -> Vec<MetricComparison> {
    let sides = [a, b];
    let mut table = Rows { reported: Vec::new(), asked: &wishes.metrics, seed: wishes.seed, series: 0 };
    let strips =
        |of: fn(&RunSeries) -> &ColumnCounts| sides.map(|side| side.iter().map(|run| of(&run.cut)).collect());
    let times = |of: fn(&RunSeries) -> &LatencyBuckets| {
        sides.map(|side| side.iter().map(|run| of(&run.cut)).collect())
    };
    let whole: Scopes = sides.map(|side| side.iter().map(|run| &run.cut.whole).collect());
    table.add_scope(&whole, "", &[50.0, 90.0, 95.0, 99.0, 99.9]);
    table.add_times(&times(|cut| &cut.connect), ("connect", &[50.0, 99.0]), None);
    table.add_times(&times(|cut| &cut.hello), ("hello", &[50.0, 99.0]), None);
    table.add_times(&times(|cut| &cut.ping), ("ping", &[50.0, 99.0]), None);
    table.add_quotient(&strips(|cut| &cut.lost), ("lost".to_owned(), "share", 1.0, false));
    let several = sides.iter().any(|side| side.iter().any(|run| run.cut.steps.len() > 1));
    for (key, name) in wishes.steps.iter().filter(|_| several) {
        let of = |runs: usize| sides[runs].iter().map(|run| run.cut.step(*key)).collect::<Option<Vec<_>>>();
        if let [Some(of_a), Some(of_b)] = [of(0), of(1)] {
            table.add_scope(&[of_a, of_b], name, &[50.0, 99.0]);
        }
    }
    table.add_figures(sides);
    judge(&mut table.reported, wishes);
    table.reported
}

/// The runs' requests of one scope, side by side.
type Scopes<'a> = [Vec<&'a ScopeSeries>; 2];

/// Rows under construction.
struct Rows<'a> {
    reported: Vec<MetricComparison>,
    /// Names that were asked for.
    asked: &'a [String],
    seed: u64,
    series: u64,
}

impl Rows<'_> {
    /// Rate, failures and times of requests; `step` is empty for all of them.
    fn add_scope(&mut self, scopes: &Scopes<'_>, step: &str, percentiles: &[f64]) {
        let word = |name: &str| if step.is_empty() { name.to_owned() } else { format!("{name}({step})") };
        let strips = |of: fn(&ScopeSeries) -> &ColumnCounts| -> [Vec<&ColumnCounts>; 2] {
            [0, 1].map(|side| scopes[side].iter().map(|scope| of(scope)).collect())
        };
        let times = |of: fn(&ScopeSeries) -> &LatencyBuckets| -> [Vec<&LatencyBuckets>; 2] {
            [0, 1].map(|side| scopes[side].iter().map(|scope| of(scope)).collect())
        };
        self.add_quotient(&strips(|scope| &scope.rate), (word("done_rate"), "per_s", 1e3, true));
        self.add_quotient(&strips(|scope| &scope.failed), (word("failed"), "share", 1.0, false));
        let name = if step.is_empty() { "response" } else { step };
        self.add_times(&times(|scope| &scope.response), (name, percentiles), Some(scopes));
        if step.is_empty() {
            self.add_times(&times(|scope| &scope.service), ("service", &[50.0, 99.0]), None);
        }
    }

    /// Adds a count divided by another. A metric that is zero on both sides is left out unless
    /// requested.
    fn add_quotient(
        &mut self,
        strips: &[Vec<&ColumnCounts>; 2],
        (name, unit, factor, more_is_better): (String, &'static str, f64, bool),
    ) {
        let counts = [0, 1].map(|side| quotient(&strips[side]));
        let happened = counts.iter().any(|&(events, _)| events > 0);
        if counts.iter().any(|&(_, of)| of == 0) || !(happened || self.asked.contains(&name)) {
            return;
        }
        let values = counts.map(|(events, of)| Some(events as f64 / of as f64 * factor));
        let measure = if more_is_better { Metric::Rate } else { Metric::Share };
        let [a, b] = [0, 1].map(|side| self.estimates(&[measure], &strips[side]).remove(0));
        self.reported.push(row((name, unit, more_is_better), values, [a, b]));
    }

    /// Adds percentiles of times. `scopes` report dropped requests, which have no time and would be
    /// slower than all others.
    fn add_times(
        &mut self,
        times: &[Vec<&LatencyBuckets>; 2],
        (part, percentiles): (&str, &[f64]),
        scopes: Option<&Scopes<'_>>,
    ) {
        let counts = [0, 1].map(|side| times[side].iter().map(|one| one.count).sum::<u64>());
        if counts.contains(&0) {
            return;
        }
        let measures: Vec<Metric> = percentiles.iter().map(|&q| Metric::Percentile(q)).collect();
        let [of_a, of_b] = [0, 1].map(|side| {
            let strips: Vec<&ColumnCounts> = times[side].iter().map(|one| &one.strip).collect();
            self.estimates(&measures, &strips)
        });
        for ((&q, a), b) in percentiles.iter().zip(of_a).zip(of_b) {
            let pair = [a, b];
            let values = [0, 1].map(|side| {
                let longest = times[side].iter().map(|one| one.max).max().unwrap_or(0);
                pair[side].map(|estimate| libm::exp(estimate.log).round().min(longest as f64) / 1e3)
            });
            let name = if part == "response" { format!("p{q}") } else { format!("p{q}({part})") };
            let why = doubt(q, counts, scopes);
            // A few connections that were opened ahead are no value worth a row.
            if part != "connect" || why.is_empty() {
                self.reported.push(MetricComparison { why, ..row((name, "us", false), values, pair) });
            }
        }
    }

    /// Adds the values with one number per run, where all runs have them.
    fn add_figures(&mut self, sides: [&[SideRun]; 2]) {
        let Some(first) = sides[0].first() else { return };
        for (name, &(_, unit)) in &first.figures {
            let of = |side: &[SideRun]| {
                let figure = |run: &SideRun| run.figures.get(name).map(|(value, _)| *value);
                side.iter().map(figure).collect::<Option<Vec<f64>>>()
            };
            let [Some(of_a), Some(of_b)] = sides.map(of) else { continue };
            let pair = [of_a, of_b].map(|figures| Estimate::from_scalars(&figures));
            let values = pair.map(|estimate| estimate.map(|estimate| libm::exp(estimate.log)));
            self.reported.push(MetricComparison {
                figure: true,
                ..row((name.clone(), unit, unit == "per_s"), values, pair)
            });
        }
    }

    fn estimates(&mut self, measures: &[Metric], strips: &[&ColumnCounts]) -> Vec<Option<Estimate>> {
        self.series += 1;
        // Each series has draws of its own, by its place: which of them are asked for changes none.
        let mut random = Philox::keyed(self.seed, DOMAIN, self.series);
        Estimate::bootstrap(measures, strips, DRAWS, &mut random)
    }
}

/// Keys the draws of a comparison, together with its seed.
const DOMAIN: u64 = 0x636f_6d70;

pub(crate) fn row(
    (name, unit, more_is_better): (String, &'static str, bool),
    values: [Option<f64>; 2],
    pair: [Option<Estimate>; 2],
) -> MetricComparison {
    let estimates = match pair {
        [Some(a), Some(b)] => Some([a, b]),
        _ => None,
    };
    let ratio = estimates.map(|[a, b]| Ratio::between(&a, &b));
    let (judged, p_adjusted, figure, why) = (false, None, false, Sentence::empty());
    MetricComparison { name, unit, values, more_is_better, ratio, estimates, judged, p_adjusted, figure, why }
}

/// Returns why a percentile cannot be compared; empty if it can. Dropped requests have no time. If
/// fewer were dropped than are above the percentile, they are left out on both sides alike, as in a
/// report. With more, the percentile is itself a dropped request.
fn doubt(q: f64, counts: [u64; 2], scopes: Option<&Scopes<'_>>) -> Sentence {
    if counts.iter().any(|&count| Histogram::count_above_percentile(count, q) < ABOVE_MIN) {
        return MetricDoc::FEW_ABOVE;
    }
    let lost = |side: &Vec<&ScopeSeries>| {
        let dropped: u64 = side.iter().map(|scope| scope.dropped).sum();
        let strips: Vec<&ColumnCounts> = side.iter().map(|scope| &scope.failed).collect();
        dropped > Histogram::count_above_percentile(quotient(&strips).1, q)
    };
    if scopes.is_some_and(|scopes| scopes.iter().any(lost)) {
        return phrase!("unknown: it is among the dropped requests, which have no time");
    }
    Sentence::empty()
}

/// The counts at index 0 and at index 1, over all runs.
fn quotient(strips: &[&ColumnCounts]) -> (u64, u64) {
    let cells = strips.iter().flat_map(|strip| &strip.columns).flatten();
    cells.fold(
        (0, 0),
        |(events, of), &(index, n)| if index == 0 { (events + n, of) } else { (events, of + n) },
    )
}

/// Decides what belongs to the family and corrects for its size.
pub(crate) fn judge(rows: &mut [MetricComparison], wishes: &CompareOptions) {
    for row in &mut *rows {
        let usual = !row.figure && row.name != SHOWN_ONLY;
        let wanted = if wishes.metrics.is_empty() { usual } else { wishes.metrics.contains(&row.name) };
        // A value that cannot be compared would not be comparable on request either.
        if !wanted && row.why.is_empty() {
            row.why = if wishes.metrics.is_empty() {
                phrase!("listed, not judged: name it with --metric")
            } else {
                MetricDoc::NOT_ASKED
            };
        }
        row.judged = wanted && row.why.is_empty();
    }
    let family: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].judged).collect();
    let p: Vec<Option<f64>> = family.iter().map(|&at| rows[at].p_differs()).collect();
    let adjusted = holm(&p.iter().map(|p| p.unwrap_or(1.0)).collect::<Vec<_>>());
    for ((at, p), adjusted) in family.into_iter().zip(p).zip(adjusted) {
        rows[at].p_adjusted = p.map(|_| adjusted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run in which `failed` of `offered` requests failed, in as many columns.
    fn run(failed: u64, offered: u64) -> SideRun {
        let cells = vec![(0, failed), (1, offered)];
        let failed = ColumnCounts { columns: vec![cells; 10], ..ColumnCounts::default() };
        let whole = ScopeSeries { failed, ..ScopeSeries::default() };
        SideRun { cut: RunSeries { whole, ..RunSeries::default() }, ..SideRun::default() }
    }

    #[test]
    fn where_nothing_happened_half_an_event_proves_nothing() {
        let check = |(a, of_a): (u64, u64), (b, of_b): (u64, u64), many: usize, differs: Option<bool>| {
            let wishes =
                CompareOptions { metrics: vec!["failed".to_owned()], seed: 1, ..CompareOptions::default() };
            let rows = compare(&vec![run(a, of_a); many], &vec![run(b, of_b); many], &wishes);
            let [row] = rows.as_slice() else { panic!("one value is listed: {rows:?}") };
            let reported = row.p_adjusted.map(|p| p < LEVEL);
            assert_eq!((row.judged, reported), (true, differs), "{a} of {of_a}, {b} of {of_b}: {row:?}");
            // None beyond a limit either where nothing is more.
            if differs == Some(false) {
                assert_eq!(row.p_beyond(1.1).map(|p| p < LEVEL), Some(false), "{row:?}");
            }
        };
        for many in [1, 3] {
            check((0, 100), (0, 100), many, Some(false));
            check((0, 10), (0, 1_000_000), many, Some(false));
            check((0, 1_000_000), (0, 10), many, Some(false));
        }
        check((0, 10), (1, 1_000_000), 3, Some(false));
        check((1, 1_000_000), (0, 10), 3, Some(false));
        check((0, 1_000), (90, 1_000), 3, Some(true));
        check((90, 1_000), (0, 1_000), 3, Some(true));
        check((0, 1_000), (90, 1_000), 1, None);
        // Unless it is requested, it makes no other value harder to judge.
        assert_eq!(compare(&[run(0, 9)], &[run(0, 9)], &CompareOptions::default()), []);
    }

    #[test]
    fn ten_samples_above_a_percentile_are_enough() {
        for (q, least) in [(50.0, 20), (90.0, 100), (95.0, 200), (99.0, 1_000), (99.9, 10_000)] {
            assert_eq!(doubt(q, [least; 2], None), "", "p{q} of {least}");
            assert_eq!(doubt(q, [least, least - 1], None), MetricDoc::FEW_ABOVE, "p{q} of one less");
        }
    }

    #[test]
    fn what_cannot_be_compared_says_so_before_anything_else() {
        let check = |name: &str, doubt: &str, asked: &[&str], why: &str| {
            let value = row((name.to_owned(), "us", false), [Some(1.0); 2], [None; 2]);
            let mut rows = [MetricComparison { why: Sentence::quoted(doubt), ..value }];
            let metrics = asked.iter().map(|&name| name.to_owned()).collect();
            judge(&mut rows, &CompareOptions { metrics, ..CompareOptions::default() });
            assert_eq!((rows[0].why.as_str(), rows[0].judged), (why, why.is_empty()), "{name} of {asked:?}");
        };
        let few = &MetricDoc::FEW_ABOVE;
        check("p99", "", &[], "");
        check("p99", few, &[], few);
        check("p95", few, &[], few);
        check("p95", "", &[], "listed, not judged: name it with --metric");
        check("p99", few, &["p50"], few);
        check("p99", "", &["p50"], &MetricDoc::NOT_ASKED);
        check("p95", "", &["p95"], "");
    }
}
