//! [`Estimate`]: a value of one side and what it may be off by, on a logarithmic scale.

use wavetank_pace::Philox;
use wavetank_units::Nanos;

use crate::resample_table::{ResampleTable, add};
use crate::{ColumnCounts, Metric};

/// Samples drawn at each level. A variance from this many draws has an error of 1 part in 22, and
/// its root half of that.
pub(crate) const DRAWS: u64 = 1_000;

/// A value of one side over all its runs, as a natural logarithm. The ratio of two sides is then a
/// difference, and equal factors up and down have equal weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The logarithm of the value.
    pub log: f64,
    /// Runs it is of.
    pub runs: usize,
    /// The variance of `log` by how much the runs differ; `None` with one run.
    pub between: Option<f64>,
    /// Variance of `log` from the differences between blocks within the runs; `None` if the runs
    /// are too short to cut.
    pub within: Option<f64>,
    /// The variance that independent events have at least; 0 where nothing of the kind is known.
    pub counting: f64,
    /// The variance that no number of runs takes away.
    pub resolution: f64,
    /// Length of a block, of the run with the longest; zero without blocks.
    pub block: Nanos,
    /// Blocks that all runs together are cut into.
    pub blocks: usize,
}

impl Estimate {
    /// Estimates all `measures` from `strips`, one per run. Each level is drawn `draws` times
    /// (`DRAWS`), decided by `random`. An estimate is `None` if nothing was counted.
    ///
    /// The two levels are drawn separately. A run's own noise is part of how much runs differ, so
    /// drawing blocks within drawn runs would count it twice (A. C. Davison and D. V. Hinkley,
    /// *Bootstrap Methods and their Application*, 1997, §3.8). The variance between runs is used;
    /// the one within is its lower bound, in case few runs agree by luck.
    pub fn bootstrap(
        measures: &[Metric],
        strips: &[&ColumnCounts],
        draws: u64,
        random: &mut Philox,
    ) -> Vec<Option<Self>> {
        let table = ResampleTable::new(measures, strips);
        let whole = table.total();
        let n = table.runs.len();
        let between = if n > 1 { between(measures, &table, draws, random) } else { Vec::new() };
        let within = if table.is_cut { within(measures, &table, draws, random) } else { Vec::new() };
        let block = table.runs.iter().map(|run| run.block_length).max().unwrap_or_default();
        let blocks = if table.is_cut { (blocks(&table) + 1e-9) as usize } else { 0 };
        let level = |variances: &[Option<f64>], at: usize| variances.get(at).copied().flatten();
        let one = |(at, measure): (usize, &Metric)| {
            Some(Self {
                log: measure.log(&table.indices, &whole)?,
                runs: n,
                between: level(&between, at),
                within: level(&within, at),
                counting: measure.counting(&table.indices, &whole),
                resolution: measure.resolution(&table.indices, &whole),
                block,
                blocks,
            })
        };
        measures.iter().enumerate().map(one).collect()
    }

    /// Estimates from figures of which each run has one, such as its memory: their geometric mean.
    /// Returns `None` if there is no figure or one is not above 0.
    pub fn from_scalars(figures: &[f64]) -> Option<Self> {
        if figures.is_empty() || figures.iter().any(|figure| !(figure.is_finite() && *figure > 0.0)) {
            return None;
        }
        let logs: Vec<f64> = figures.iter().map(|&figure| libm::log(figure)).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        Some(Self {
            log: mean,
            runs: logs.len(),
            between: (logs.len() > 1).then(|| squares / (n - 1.0) / n),
            within: None,
            counting: 0.0,
            resolution: 1e-6,
            block: Nanos::ZERO,
            blocks: 0,
        })
    }

    /// The variance that is believed, without the resolution; `None` with one run.
    pub(crate) fn spread(&self) -> Option<f64> {
        self.between.map(|between| between.max(self.variance_floor()))
    }

    /// The variance that is there even if all runs were the same.
    pub(crate) fn variance_floor(&self) -> f64 {
        self.within.unwrap_or(0.0).max(self.counting)
    }

    /// Degrees of freedom of `within`: blocks are to blocks what runs are to runs.
    pub(crate) fn freedom_within(&self) -> f64 {
        self.blocks.saturating_sub(self.runs).max(1) as f64
    }
}

/// Returns the variances from drawing whole runs with replacement. A sample drawn from n runs
/// varies by (n − 1)/n of what n new runs would, which matters for n = 3.
fn between(measures: &[Metric], table: &ResampleTable, draws: u64, random: &mut Philox) -> Vec<Option<f64>> {
    let n = table.runs.len();
    let mut spreads = vec![Spread::default(); measures.len()];
    let mut sum = vec![0; table.indices.len()];
    for _ in 0..draws {
        sum.fill(0);
        for _ in 0..n {
            add(&mut sum, &table.runs[random.below(n as u64) as usize].whole);
        }
        read(measures, table, &sum, &mut spreads);
    }
    let few = n as f64 / (n as f64 - 1.0);
    spreads.iter().map(|spread| Some(spread.variance()? * few)).collect()
}

/// The variances by drawing blocks within every run, each run as long as it was.
fn within(measures: &[Metric], table: &ResampleTable, draws: u64, random: &mut Philox) -> Vec<Option<f64>> {
    let mut spreads = vec![Spread::default(); measures.len()];
    let mut sum = vec![0; table.indices.len()];
    for _ in 0..draws {
        sum.fill(0);
        for run in &table.runs {
            for _ in 0..run.columns.div_ceil(run.block) {
                add(&mut sum, run.block(random.below(run.columns as u64) as usize));
            }
        }
        read(measures, table, &sum, &mut spreads);
    }
    // The last block of a run is drawn whole where it would be cut, and few blocks vary less than
    // many new ones.
    let columns: usize = table.runs.iter().map(|run| run.columns).sum();
    let drawn: usize = table.runs.iter().map(|run| run.columns.div_ceil(run.block) * run.block).sum();
    let each = blocks(table) / table.runs.len() as f64;
    let few = drawn as f64 / columns as f64 * each / (each - 1.0);
    spreads.iter().map(|spread| Some(spread.variance()? * few)).collect()
}

/// Blocks that all runs together are cut into.
fn blocks(table: &ResampleTable) -> f64 {
    table.runs.iter().map(|run| run.columns as f64 / run.block as f64).sum()
}

fn read(measures: &[Metric], table: &ResampleTable, sum: &[u64], spreads: &mut [Spread]) {
    for (measure, spread) in measures.iter().zip(spreads) {
        if let Some(log) = measure.log(&table.indices, sum) {
            spread.add(log);
        }
    }
}

/// Mean and variance of values by Welford's algorithm: one pass, and no difference of large
/// squares.
#[derive(Clone, Copy, Default)]
struct Spread {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, value: f64) {
        self.n += 1.0;
        let off = value - self.mean;
        self.mean += off / self.n;
        self.squares += off * (value - self.mean);
    }

    fn variance(&self) -> Option<f64> {
        (self.n > 1.0).then(|| self.squares / (self.n - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run with the same counts in all columns.
    fn even(columns: usize, cells: &[(u16, u64)]) -> ColumnCounts {
        ColumnCounts { columns: vec![cells.to_vec(); columns], ..ColumnCounts::default() }
    }

    fn of_one(measure: Metric, strips: &[&ColumnCounts]) -> Option<Estimate> {
        Estimate::bootstrap(&[measure], strips, DRAWS, &mut Philox::keyed(1, 0, 0)).remove(0)
    }

    #[test]
    fn equal_runs_leave_only_the_resolution() {
        let strip = even(20, &[(100, 98), (900, 2)]);
        let estimate = of_one(Metric::Percentile(99.0), &[&strip, &strip]).unwrap();
        assert_eq!((estimate.between, estimate.within, estimate.runs), (Some(0.0), Some(0.0), 2));
        assert!(estimate.resolution > 0.0 && (estimate.block, estimate.blocks) == (Nanos::from_secs(2), 20));
    }

    /// A run of half a minute and one of an hour, with longer columns. Blocks of both cover the
    /// same time, if the short run can be divided at all.
    #[test]
    fn blocks_are_as_long_in_runs_of_other_columns() {
        let (minutes, mut hour) = (even(600, &[(0, 9), (1, 1_000)]), even(225, &[(0, 144), (1, 16_000)]));
        hour.column = Nanos::from_secs(16);
        let lengths = |strips: &[&ColumnCounts]| {
            ResampleTable::new(&[Metric::Rate], strips)
                .runs
                .iter()
                .map(|run| run.block_length)
                .collect::<Vec<_>>()
        };
        assert_eq!(lengths(&[&minutes, &minutes]), [Nanos::from_secs(2); 2]);
        assert_eq!(lengths(&[&minutes, &hour]), [Nanos::from_secs(32); 2]);
        let short = even(30, &[(0, 9), (1, 1_000)]);
        assert_eq!(lengths(&[&short, &hour]), [Nanos::from_secs(7), Nanos::from_secs(32)]);
        let estimate = of_one(Metric::Rate, &[&short, &hour]).unwrap();
        assert_eq!((estimate.block, estimate.blocks), (Nanos::from_secs(32), 4 + 112));
    }

    /// The variance of a mean is known: over n runs it is the variance of one run divided by n.
    #[test]
    fn runs_vary_as_the_textbook_says() {
        let rates = [100_u64, 104, 96, 103, 97];
        let strips: Vec<ColumnCounts> = rates.iter().map(|&n| even(20, &[(0, n), (1, 100)])).collect();
        let strips: Vec<&ColumnCounts> = strips.iter().collect();
        let estimate = of_one(Metric::Rate, &strips).unwrap();
        let expected = Estimate::from_scalars(&rates.map(|n| n as f64)).unwrap();
        let ratio = estimate.between.unwrap() / expected.between.unwrap();
        assert!((0.85..1.15).contains(&ratio), "{ratio}");
        assert!((estimate.log - libm::log(1.0)).abs() < 1e-3, "{}", estimate.log);
    }

    #[test]
    fn what_is_not_there_has_no_estimate() {
        assert_eq!(of_one(Metric::Percentile(50.0), &[&ColumnCounts::default()]), None);
        assert_eq!(of_one(Metric::Percentile(50.0), &[]), None);
        let short = even(3, &[(5, 1)]);
        let estimate = of_one(Metric::Percentile(50.0), &[&short]).unwrap();
        assert_eq!((estimate.between, estimate.within), (None, None));
        assert_eq!(Estimate::from_scalars(&[1.0, 0.0]), None);
        assert_eq!(Estimate::from_scalars(&[f64::NAN]), None);
    }
}
