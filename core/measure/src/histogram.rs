//! [`Histogram`]: the one layout everywhere.

use crate::sparse::SparseHistogram;

/// A histogram with the bucket layout of `HdrHistogram`: 2 significant digits (256 sub-buckets, 128
/// per octave), unit 1 ns, up to 2^42 − 1 ns (73 min). Larger values go to the top bucket and are
/// counted in `clipped`. Exact minimum, maximum, sum and count are kept in addition. Source of the
/// layout: the public `HdrHistogram` specification (`lowest = 1`, `highest = 2^42 − 1`, `digits =
/// 2`).
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Buckets up to the highest one used so far; kept by `clear`; empty until a value is recorded.
    /// Response times of microseconds need a fifth of all buckets, and dozens of load threads have
    /// a dozen histograms each.
    counts: Vec<u64>,
    count: u64,
    clipped: u64,
    /// `u64::MAX` while allocated and nothing is recorded, so that `record` need not ask.
    min: u64,
    max: u64,
    sum: u128,
}

impl Histogram {
    /// Buckets of the layout: 36 half-octaves of 128.
    pub const BUCKETS: usize = 36 * 128;
    /// Memory grows by this many buckets: a little more than three octaves, one page.
    const STEP: usize = 512;
    /// The highest value with a bucket of its own.
    pub const HIGHEST: u64 = (1 << 42) - 1;

    /// Record one value in nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.record_n(ns, 1);
    }

    /// Record `n` equal values in nanoseconds.
    #[inline]
    pub fn record_n(&mut self, ns: u64, n: u64) {
        if n == 0 {
            return;
        }
        // One lookup checks both: the bucket is allocated, and the value has its own bucket. Other
        // values would be beyond the last one.
        match self.counts.get_mut(Self::unlimited_index(ns)) {
            Some(bucket) => *bucket += n,
            None => self.record_beyond(ns, n),
        }
        self.count += n;
        self.sum += u128::from(ns) * u128::from(n);
        if ns < self.min || ns > self.max {
            self.widen(ns);
        }
    }

    /// Moves the minimum or the maximum to a value outside them, which few values are. It is not
    /// part of `record`, which must stay small enough to be inlined.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, ns: u64) {
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    /// The rare cases of [`record_n`](Self::record_n): the bucket is not allocated yet, or the
    /// value has no bucket of its own.
    #[cold]
    fn record_beyond(&mut self, ns: u64, n: u64) {
        let index = Self::index(ns);
        self.reach(index);
        self.counts[index] += n;
        self.clipped += if ns > Self::HIGHEST { n } else { 0 };
    }

    /// Adds the values of `other`. Exact, and the same in any order.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let touched = other.touched();
        self.reach(touched.end - 1);
        self.counts[touched.clone()]
            .iter_mut()
            .zip(&other.counts[touched])
            .for_each(|(mine, theirs)| *mine += theirs);
        self.count += other.count;
        self.clipped += other.clipped;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The values as a stretch of buckets: those from the lowest value's to the highest's.
    pub(crate) fn occupied(&self) -> BucketRange<'_> {
        let touched = self.touched();
        let (first, counts) = (touched.start, self.counts.get(touched).unwrap_or_default());
        BucketRange { first, counts, clipped: self.clipped, min: self.min(), max: self.max, sum: self.sum }
    }

    /// Adds the values of a range of buckets.
    pub(crate) fn merge_range(&mut self, other: BucketRange<'_>) {
        if other.counts.is_empty() {
            return;
        }
        self.reach(other.first + other.counts.len() - 1);
        let mine = &mut self.counts[other.first..][..other.counts.len()];
        mine.iter_mut().zip(other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.count += other.counts.iter().sum::<u64>();
        self.clipped += other.clipped;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forget all values but keep the memory: costs only the range of buckets that was touched.
    pub fn clear(&mut self) {
        if self.count > 0 {
            let touched = self.touched();
            self.counts[touched].fill(0);
            (self.count, self.clipped, self.min, self.max, self.sum) = (0, 0, u64::MAX, 0, 0);
        }
    }

    /// Removes values that were merged before. `bounds` are the exact minimum and maximum of the
    /// remaining values, which buckets alone do not contain.
    pub(crate) fn subtract(&mut self, other: &SparseHistogram, bounds: Option<(u64, u64)>) {
        for &(index, n) in &other.buckets {
            self.counts[usize::from(index)] -= n;
        }
        self.count -= other.count;
        self.clipped -= other.clipped;
        self.sum -= other.sum;
        debug_assert_eq!(bounds.is_none(), self.count == 0, "bounds belong to what remains");
        (self.min, self.max) = bounds.unwrap_or((u64::MAX, 0));
    }

    /// Returns the values recorded since `earlier`, which must be contained in this histogram.
    /// Counts and sum are exact. Only the buckets of the smallest and the largest value are known,
    /// so the bucket bounds are used for them. Empty if `earlier` is not contained in this
    /// histogram.
    #[must_use]
    pub fn difference(&self, earlier: &Self) -> Self {
        let mut counts = self.counts.clone();
        for (index, n) in earlier.iter() {
            match counts.get_mut(index).and_then(|count| Some((count.checked_sub(n)?, count))) {
                Some((left, count)) => *count = left,
                None => return Self::default(),
            }
        }
        let first = counts.iter().position(|&n| n > 0);
        let Some((first, last)) = first.zip(counts.iter().rposition(|&n| n > 0)) else {
            return Self::default();
        };
        let clipped = self.clipped.saturating_sub(earlier.clipped);
        let top = if clipped > 0 { self.max } else { Self::highest_equivalent(last).min(self.max) };
        let bottom = Self::lowest_equivalent(first).max(self.min());
        let sum = self.sum.saturating_sub(earlier.sum);
        let mut left = Self::default();
        left.rebuild(clipped, bottom, top, sum, |buckets| {
            buckets.copy_from_slice(&counts[first..=last]);
            Some(buckets.iter().sum())
        });
        left
    }

    /// Values recorded.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing is recorded.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Values above [`Histogram::HIGHEST`], which share the top bucket.
    pub const fn clipped(&self) -> u64 {
        self.clipped
    }

    /// The exact smallest value; 0 when empty.
    pub const fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// The exact largest value; 0 when empty.
    pub const fn max(&self) -> u64 {
        self.max
    }

    /// The exact sum of all values.
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// The exact mean; 0 when empty.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Returns percentile `q` (0 to 100): nearest rank, highest equivalent value of its bucket,
    /// capped by the exact maximum. `None` when empty.
    pub fn percentile(&self, q: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let rank = self.rank(q);
        let mut seen = 0;
        for index in self.touched() {
            seen += self.counts[index];
            if seen >= rank {
                return Some(Self::highest_equivalent(index).min(self.max));
            }
        }
        Some(self.max)
    }

    /// Whether fewer than [`wavetank_plan::constants::UNCERTAIN_BELOW`] samples are above
    /// percentile `q`.
    pub fn is_uncertain(&self, q: f64) -> bool {
        self.count == 0
            || Self::count_above_percentile(self.count, q) < wavetank_plan::constants::UNCERTAIN_BELOW
    }

    /// The buckets with values: index (0 to [`Histogram::BUCKETS`]) and count, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.touched().map(|index| (index, self.counts[index])).filter(|&(_, n)| n > 0)
    }

    /// Its parts: bucket counts in the layout's order, as many as there is memory for
    /// (none if nothing was recorded), clipped, min, max, sum. For encoding.
    pub fn parts(&self) -> (&[u64], u64, u64, u64, u128) {
        (&self.counts, self.clipped, self.min(), self.max, self.sum)
    }

    /// Rebuilds the histogram in its existing memory, for decoding. `fill` receives the buckets
    /// from the lowest value's to the highest's, all 0, and returns how many values it has put
    /// there. Returns whether the parts are consistent. If they are not, or if `fill` fails, the
    /// histogram is empty.
    pub fn rebuild(
        &mut self,
        clipped: u64,
        min: u64,
        max: u64,
        sum: u128,
        fill: impl FnOnce(&mut [u64]) -> Option<u64>,
    ) -> bool {
        self.clear();
        if min > max {
            return false;
        }
        let (first, last) = (Self::index(min), Self::index(max));
        self.reach(last);
        let counts = &mut self.counts[first..=last];
        let count = fill(counts).unwrap_or(0);
        let ends = [counts.first(), counts.last()].iter().all(|end| end.is_some_and(|&n| n > 0));
        let top = if last == Self::BUCKETS - 1 { counts[last - first] } else { 0 };
        let sound = count > 0
            && ends
            && clipped <= top
            && (clipped > 0) == (max > Self::HIGHEST)
            && (u128::from(min) * u128::from(count)..=u128::from(max) * u128::from(count)).contains(&sum);
        if sound {
            (self.count, self.clipped, self.min, self.max, self.sum) = (count, clipped, min, max, sum);
        } else {
            counts.fill(0);
        }
        sound
    }

    /// The bucket of a value; values above [`Histogram::HIGHEST`] share the top one.
    #[inline]
    pub const fn index(ns: u64) -> usize {
        Self::unlimited_index(if ns > Self::HIGHEST { Self::HIGHEST } else { ns })
    }

    /// The bucket of a value in a layout without an end: at least [`Histogram::BUCKETS`] for values
    /// above [`Histogram::HIGHEST`].
    #[inline]
    const fn unlimited_index(ns: u64) -> usize {
        let octave = ((ns | 255).ilog2() - 7) as usize;
        // The octaves below have (octave + 1) half-octaves of 128; this octave uses the upper half
        // of its 256 sub-buckets.
        (octave << 7) + (ns >> octave) as usize
    }

    /// The lowest value of bucket `index`.
    pub const fn lowest_equivalent(index: usize) -> u64 {
        let octave = Self::octave(index);
        ((index - (octave << 7)) as u64) << octave
    }

    /// The highest value of bucket `index`.
    pub const fn highest_equivalent(index: usize) -> u64 {
        Self::lowest_equivalent(index) + (1 << Self::octave(index)) - 1
    }

    /// Number of low bits that values in bucket `index` lose.
    const fn octave(index: usize) -> usize {
        if index < 256 { 0 } else { (index >> 7) - 1 }
    }

    /// The nearest rank of percentile `q`: 1 to `count`.
    fn rank(&self, q: f64) -> u64 {
        self.count - Self::count_above_percentile(self.count, q)
    }

    /// Returns how many of `count` samples are above percentile `q` (0 to 100) by nearest rank.
    pub fn count_above_percentile(count: u64, q: f64) -> u64 {
        let exact = q.clamp(0.0, 100.0) * count as f64 / 100.0;
        // 99.9 % of 1,000 is rank 999, although 99.9 is not exact in binary.
        let rank = (exact - (exact * 1e-14 + 1e-9)).ceil() as u64;
        count.saturating_sub(rank.max(1))
    }

    /// The range of buckets that can hold values.
    fn touched(&self) -> std::ops::Range<usize> {
        if self.count == 0 { 0..0 } else { Self::index(self.min)..Self::index(self.max) + 1 }
    }

    /// Allocates bucket `index`. Kept out of `record`, which must stay small enough to be inlined.
    #[cold]
    #[inline(never)]
    fn reach(&mut self, index: usize) {
        let have = self.counts.len();
        if index < have {
            return;
        }
        let want = (index / Self::STEP + 1) * Self::STEP;
        if have == 0 {
            self.counts = vec![0; want];
            self.min = u64::MAX;
        } else {
            self.counts.reserve_exact(want - have);
            self.counts.resize(want, 0);
        }
    }
}

/// Borrowed view of a histogram: the range of buckets that contains values, and the exact values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BucketRange<'a> {
    pub(crate) first: usize,
    /// Empty where nothing is recorded.
    pub(crate) counts: &'a [u64],
    pub(crate) clipped: u64,
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) sum: u128,
}

/// The values, not the memory: a cleared histogram equals a new one.
impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        let exact = |h: &Self| (h.count, h.clipped, h.min(), h.max, h.sum);
        exact(self) == exact(other) && self.iter().eq(other.iter())
    }
}

impl Eq for Histogram {}
