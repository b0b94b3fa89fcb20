//! [`SparseHistogram`]: one second of a histogram, small enough to keep many of.

use crate::Histogram;

/// The values of one second without the empty buckets. A sliding window keeps one of these for each
/// of its seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseHistogram {
    pub(crate) buckets: Vec<(u16, u64)>,
    pub(crate) count: u64,
    pub(crate) clipped: u64,
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) sum: u128,
}

impl SparseHistogram {
    pub(crate) fn from_histogram(histogram: &Histogram) -> Self {
        Self {
            // 4,608 buckets fit into 16 bits.
            buckets: histogram.iter().map(|(index, n)| (index as u16, n)).collect(),
            count: histogram.count(),
            clipped: histogram.clipped(),
            min: histogram.min(),
            max: histogram.max(),
            sum: histogram.sum(),
        }
    }
}
