//! [`Trend`]: whether values per second rise or fall over a plateau in spite of noise.
//!
//! The values of single seconds are not normally distributed and depend on the second before, so
//! no rule assumes otherwise. Seconds are grouped into blocks by their median. The blocks are
//! tested by ranks (Mann-Kendall: H. B. Mann, Nonparametric tests against trend, Econometrica 13,
//! 1945). The change is the median of all slopes (P. K. Sen, J. Am. Stat. Assoc. 63, 1968). A
//! significant but small change is also a trend; callers decide how much matters.

/// Blocks that a plateau is cut into at most. Fewer, longer blocks depend less on each other.
const BLOCKS_MAX: usize = 20;
/// Minimum number of seconds for a trend.
pub(crate) const SECONDS_MIN: usize = 30;
/// Mann-Kendall's z from here on is no chance: about one in a thousand, for what is independent.
const Z_MIN: f64 = 3.3;
/// The minimum ratio of the change to the scatter of the blocks around it (their median deviation).
const SCATTERS_MIN: f64 = 3.0;

/// A change over a plateau.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trend {
    /// The fitted value at the plateau's start.
    pub(crate) from: f64,
    /// The fitted value at its end.
    pub(crate) to: f64,
    /// Mann-Kendall's statistic: how sure it is, in standard deviations of chance.
    pub(crate) z: f64,
}

impl Trend {
    /// Returns the trend of `values`, pairs of an instant in seconds and a value, ordered by time.
    /// `None` if chance could explain the change.
    pub(crate) fn fit(values: &[(f64, f64)]) -> Option<Self> {
        if values.len() < SECONDS_MIN {
            return None;
        }
        let blocks = blocks(values);
        let z = mann_kendall(&blocks);
        let slope = median(slopes(&blocks));
        let offset = median(blocks.iter().map(|(at, value)| value - slope * at).collect());
        let line = |at: f64| offset + slope * at;
        let scatter = median(blocks.iter().map(|&(at, value)| (value - line(at)).abs()).collect());
        let (first, last) = (values[0].0, values[values.len() - 1].0);
        let change = slope * (last - first);
        let certain =
            z.abs() >= Z_MIN && change.abs() >= SCATTERS_MIN * scatter && is_steady(&blocks, change);
        (certain && change != 0.0).then(|| Self { from: line(first), to: line(last), z })
    }

    /// How much it changed.
    pub(crate) fn change(&self) -> f64 {
        self.to - self.from
    }

    /// The change as a share of where it began, or of where it ended if that was less.
    pub(crate) fn share(&self) -> f64 {
        let base = self.from.abs().min(self.to.abs());
        if base > 0.0 { self.change() / base } else { self.change().signum() * f64::INFINITY }
    }
}

/// Medians of equal stretches, each with its middle.
fn blocks(values: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let count = BLOCKS_MAX.min(values.len() / 2);
    let block = |number: usize| {
        let (from, until) = (number * values.len() / count, (number + 1) * values.len() / count);
        let these = &values[from..until];
        let middle = these.iter().map(|(at, _)| at).sum::<f64>() / these.len() as f64;
        (middle, median(these.iter().map(|&(_, value)| value).collect()))
    };
    (0..count).map(block).collect()
}

/// Returns whether the change continues in every third of the plateau. A short step or an
/// incomplete period does not.
fn is_steady(blocks: &[(f64, f64)], change: f64) -> bool {
    let third = blocks.len() / 3;
    let of = |these: &[(f64, f64)]| median(these.iter().map(|&(_, value)| value).collect());
    let [first, second, last] =
        [&blocks[..third], &blocks[third..blocks.len() - third], &blocks[blocks.len() - third..]].map(of);
    (second - first) * change > 0.0 && (last - second) * change > 0.0
}

/// The statistic of Mann and Kendall with its correction for ties and continuity.
fn mann_kendall(blocks: &[(f64, f64)]) -> f64 {
    let mut sum = 0_i64;
    for (number, (_, earlier)) in blocks.iter().enumerate() {
        for (_, later) in &blocks[number + 1..] {
            sum += i64::from(later > earlier) - i64::from(later < earlier);
        }
    }
    let mut sorted: Vec<f64> = blocks.iter().map(|&(_, value)| value).collect();
    sorted.sort_by(f64::total_cmp);
    let term = |count: usize| (count * (count - 1) * (2 * count + 5)) as f64;
    let ties: f64 = sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|tied| term(tied.len())).sum();
    let variance = (term(blocks.len()) - ties) / 18.0;
    if variance > 0.0 { (sum - sum.signum()) as f64 / variance.sqrt() } else { 0.0 }
}

fn slopes(blocks: &[(f64, f64)]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(blocks.len() * (blocks.len() - 1) / 2);
    for (number, (at, value)) in blocks.iter().enumerate() {
        let later = blocks[number + 1..].iter().filter(|(then, _)| then > at);
        slopes.extend(later.map(|(then, other)| (other - value) / (then - at)));
    }
    slopes
}

/// The middle one; 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) { values[middle - 1].midpoint(values[middle]) } else { values[middle] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws that are the same each time.
    struct Chance(u64);

    impl Chance {
        fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }

        /// About normal: twelve draws less six.
        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }
    }

    /// The kind of noise of each second.
    #[derive(Clone, Copy, Debug)]
    enum Noise {
        /// Each second by itself.
        White,
        /// Each second is similar to the one before.
        Sluggish,
        /// Long tails, and one second in thirty ten times as high, as p99 has them.
        Spiky,
        /// Two thirds of each minute busy, the rest quiet, as with heartbeats in the rhythm of the
        /// opening.
        Periodic,
    }

    /// A plateau of `seconds` around 100 that grows by the share `growth` until its end.
    fn plateau(chance: &mut Chance, seconds: usize, noise: Noise, growth: f64) -> Vec<(f64, f64)> {
        let (mut last, phase) = (0.0, chance.uniform() * 60.0);
        let mut second = |at: usize| {
            let level = 100.0 * (1.0 + growth * at as f64 / seconds as f64);
            let draw = chance.normal();
            last = 0.7 * last + draw;
            let factor = match noise {
                Noise::Sluggish => 1.0 + 0.1 * last,
                Noise::Spiky if chance.uniform() < 1.0 / 30.0 => 10.0,
                Noise::Spiky => (0.4 * draw).exp(),
                Noise::Periodic if (at as f64 + phase) % 60.0 < 20.0 => 0.2 + 0.02 * draw,
                Noise::White | Noise::Periodic => 1.0 + 0.1 * draw,
            };
            (at as f64, level * factor)
        };
        (0..seconds).map(&mut second).collect()
    }

    /// Trends found in `rounds` plateaus of half a minute to ten minutes.
    fn found(seed: u64, rounds: usize, noise: Noise, growth: f64) -> usize {
        let mut chance = Chance(seed);
        let mut found = 0;
        for _ in 0..rounds {
            let seconds = 30 + (chance.uniform() * 570.0) as usize;
            let trend = Trend::fit(&plateau(&mut chance, seconds, noise, growth));
            found += usize::from(trend.is_some_and(|trend| trend.change() * growth >= 0.0));
        }
        println!("seed {seed}, {noise:?}, growth {growth}: {found} of {rounds}");
        found
    }

    /// By chance, at most one in fifty plateaus has a trend, regardless of its size.
    #[test]
    fn noise_has_no_trend() {
        for noise in [Noise::White, Noise::Sluggish, Noise::Spiky, Noise::Periodic] {
            assert!(found(11, 1_000, noise, 0.0) <= 20, "{noise:?}");
        }
    }

    #[test]
    fn what_doubles_is_found() {
        for (noise, least) in [(Noise::White, 990), (Noise::Sluggish, 950), (Noise::Spiky, 750)] {
            assert!(found(12, 1_000, noise, 1.0) >= least, "{noise:?}");
        }
        assert!(found(13, 1_000, Noise::White, -0.5) >= 990);
    }

    #[test]
    fn a_trend_has_its_start_and_end() {
        fn check(value: impl Fn(f64) -> f64, seconds: u32, expected: Option<(f64, f64)>) {
            let values: Vec<_> = (0..seconds).map(f64::from).map(|at| (at, value(at))).collect();
            let trend = Trend::fit(&values).map(|trend| (trend.from.round(), trend.to.round()));
            assert_eq!(trend, expected);
        }
        check(|at| 100.0 + at, 101, Some((100.0, 200.0)));
        check(|at| 300.0 - 2.0 * at, 101, Some((300.0, 100.0)));
        check(|_| 7.0, 100, None);
        check(|_| 0.0, 100, None);
        check(|at| 100.0 + at, 29, None); // too short to say
        check(|at| if at < 80.0 { 100.0 } else { 200.0 }, 100, None); // a step is no drift
    }
}
