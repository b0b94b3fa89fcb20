//! [`Histogram`]: the one layout everywhere.

/// HdrHistogram's own buckets: 2 significant digits (256 sub-buckets, 128 an octave), unit 1 ns, up to
/// 2^42 − 1 ns (73 min). Above it the top bucket and `clipped`; exact min, max, sum and count beside.
/// Source of the layout: the public HdrHistogram specification (`lowest = 1`, `highest = 2^42 − 1`, `digits = 2`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Allocated on first use; empty until then.
    counts: Vec<u64>,
    count: u64,
    clipped: u64,
    min: u64,
    max: u64,
    sum: u128,
}

impl Histogram {
    /// Buckets of the layout: 36 half-octaves of 128.
    pub const BUCKETS: usize = 36 * 128;
    /// The highest value with a bucket of its own.
    pub const HIGHEST: u64 = (1 << 42) - 1;

    /// Record one value in nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        if self.counts.is_empty() {
            self.counts = vec![0; Self::BUCKETS];
            self.min = u64::MAX;
        }
        let clamped = ns.min(Self::HIGHEST);
        self.counts[Self::index(clamped)] += 1;
        self.clipped += u64::from(ns > Self::HIGHEST);
        self.count += 1;
        self.sum += u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    /// Values recorded.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Its parts, as [`Self::from_parts`] takes them: bucket counts in the layout's order (empty if nothing was
    /// recorded), clipped, min, max, sum. For encoding.
    pub fn parts(&self) -> (&[u64], u64, u64, u64, u128) {
        (&self.counts, self.clipped, self.min, self.max, self.sum)
    }

    /// Put together again from its parts, for decoding; `counts` has [`Self::BUCKETS`] entries. `None` if the
    /// parts contradict one another.
    pub fn from_parts(counts: Vec<u64>, clipped: u64, min: u64, max: u64, sum: u128) -> Option<Self> {
        let count = counts.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n))?;
        let sound = counts.len() == Self::BUCKETS && count > 0 && clipped <= count && min <= max;
        let lowest = counts.iter().position(|&n| n > 0) == Some(Self::index(min.min(Self::HIGHEST)));
        let highest = counts.iter().rposition(|&n| n > 0) == Some(Self::index(max.min(Self::HIGHEST)));
        (sound && lowest && highest).then_some(Self { counts, count, clipped, min, max, sum })
    }

    #[inline]
    const fn index(ns: u64) -> usize {
        let octave = (64 - (ns | 255).leading_zeros() - 8) as usize;
        let sub = (ns >> octave) as usize;
        ((octave + 1) << 7) + sub - 128
    }
}
