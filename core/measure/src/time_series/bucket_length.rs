//! Bucket lengths that are easy to read.

/// Lengths in seconds, each a whole number of those before it in the same chain.
const SECONDS: [i64; 18] =
    [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400];
const SECOND_NS: i64 = 1_000_000_000;

/// Returns the next longer length to which buckets of `len` can be merged, in nanoseconds: the next
/// round one that is a multiple of `len`, or beyond a day the double. `None` if there is no longer
/// one.
pub(super) fn next(len: i64) -> Option<i64> {
    let nice = SECONDS.iter().map(|seconds| seconds * SECOND_NS);
    let multiple = nice.into_iter().find(|nice| *nice > len && nice % len == 0);
    multiple.or_else(|| len.checked_mul(2))
}

/// Returns the shortest length with which `columns_max` buckets cover the time from `from` to
/// `until`.
pub(super) fn shortest_bucket_length(from: i64, until: i64, columns_max: usize) -> i64 {
    let nice = SECONDS.iter().map(|seconds| seconds * SECOND_NS);
    let fits = |len: &i64| count(from, until.saturating_sub(1).max(from), *len) <= columns_max as u128;
    let doubled = std::iter::successors(SECONDS.last().map(|day| day * SECOND_NS), |len| len.checked_mul(2));
    let mut longest = SECOND_NS;
    nice.into_iter().chain(doubled).inspect(|len| longest = *len).find(fits).unwrap_or(i64::MAX)
}

/// Columns of length `len` from that of instant `first` to that of instant `last`.
pub(super) fn count(first: i64, last: i64, len: i64) -> u128 {
    let (first, last) = (first.div_euclid(len), last.div_euclid(len));
    u128::from(last.abs_diff(first)) + 1
}
