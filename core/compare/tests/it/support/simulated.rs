//! Simulated runs with a known truth.

use wavetank_compare::{ColumnCounts, Metric};
use wavetank_measure::Histogram;
use wavetank_pace::Philox;

const COLUMNS: usize = 30;
const REQUESTS: u64 = 60;
/// How much of a second's mood the next one keeps.
const PERSISTENCE: f64 = 0.7;

/// The kind of randomness. Spreads are those of logarithms: 0.05 is about 5 %.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chance {
    /// Runs differ by 5 %, seconds by 15 %, all of it normally distributed.
    Normal,
    /// The same with Student's t of 3 degrees of freedom for runs and seconds: now and then one is
    /// far off.
    Heavy,
    /// Runs differ by their seconds alone.
    Within,
    /// Runs differ by half a percent, seconds by 2 %.
    Quiet,
}

/// The values of the family, by the strips they are read from.
type Pick = fn(&Side) -> Box<dyn Iterator<Item = &ColumnCounts> + '_>;
pub(crate) const MEASURES: [(&[Metric], Pick); 3] = [
    (&[Metric::Rate], |side| Box::new(side.iter().map(|run| &run.rate))),
    (&[Metric::Share], |side| Box::new(side.iter().map(|run| &run.failed))),
    (&[Metric::Percentile(50.0), Metric::Percentile(90.0), Metric::Percentile(99.0)], |side| {
        Box::new(side.iter().map(|run| &run.times))
    }),
];

pub(crate) type Side = Vec<Run>;

/// One simulated run.
pub(crate) struct Run {
    rate: ColumnCounts,
    failed: ColumnCounts,
    times: ColumnCounts,
}

/// The distribution from which all runs are drawn.
pub(crate) struct World {
    chance: Chance,
    /// Times in nanoseconds, each as likely: a log-normal distribution with a long tail.
    times: Vec<f64>,
}

impl World {
    pub(crate) fn new(chance: Chance) -> Self {
        let mut random = Philox::keyed(7, 7, 7);
        let times = (0..1 << 14).map(|_| 10e6 * (0.6 * normal(&mut random)).exp()).collect();
        Self { chance, times }
    }

    /// How much runs and seconds differ.
    fn spreads(&self) -> (f64, f64) {
        match self.chance {
            Chance::Normal | Chance::Heavy => (0.05, 0.15),
            Chance::Within => (0.0, 0.15),
            Chance::Quiet => (0.005, 0.02),
        }
    }

    /// Requests of a column.
    fn requests(&self) -> u64 {
        if matches!(self.chance, Chance::Quiet) { 400 } else { REQUESTS }
    }

    fn noise(&self, random: &mut Philox) -> f64 {
        let z = normal(random);
        if matches!(self.chance, Chance::Heavy) {
            let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
            // Of variance 1, as the normal one.
            z / (squares / 3.0).sqrt() / 3_f64.sqrt()
        } else {
            z
        }
    }
}

/// `runs` runs, their times longer by `shift`.
pub(crate) fn side(world: &World, runs: u64, (seed, number): (u64, u64), shift: f64) -> Side {
    (0..runs).map(|run| simulated(world, &mut Philox::keyed(seed, 1 + run, number), shift)).collect()
}

fn simulated(world: &World, random: &mut Philox, shift: f64) -> Run {
    let (between, within) = world.spreads();
    let (of_times, of_rate, of_failed) = (world.noise(random), world.noise(random), world.noise(random));
    let fresh = (1.0 - PERSISTENCE * PERSISTENCE).sqrt();
    let (mut mood, mut pace) = (world.noise(random), world.noise(random));
    let mut run = Run {
        rate: ColumnCounts::default(),
        failed: ColumnCounts::default(),
        times: ColumnCounts::default(),
    };
    for column in 0..COLUMNS {
        mood = PERSISTENCE * mood + fresh * world.noise(random);
        pace = PERSISTENCE * pace + fresh * world.noise(random);
        let factor = shift * (between * of_times + within * mood).exp();
        let time =
            |random: &mut Philox| world.times[random.below(world.times.len() as u64) as usize] * factor;
        let mut buckets: Vec<u16> =
            (0..world.requests()).map(|_| Histogram::index(time(random) as u64) as u16).collect();
        buckets.sort_unstable();
        let equal = buckets.chunk_by(|a, b| a == b);
        run.times.column_mut(column).extend(equal.map(|equal| (equal[0], equal.len() as u64)));
        run.rate.add(column, 0, (1_000.0 * (between * of_rate + within * pace).exp()) as u64);
        run.rate.add(column, 1, 1_000);
        let share = 0.02 * (2.0 * between * of_failed).exp();
        run.failed.add(column, 0, (0..REQUESTS).filter(|_| random.unit() < share).count() as u64);
        run.failed.add(column, 1, REQUESTS);
    }
    run
}

/// A normally distributed number (G. E. P. Box and M. E. Muller, 1958).
fn normal(random: &mut Philox) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * random.unit()).cos()
}
