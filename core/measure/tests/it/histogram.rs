//! The histogram against the real `HdrHistogram`, and its arithmetic against plain sorting.

use proptest::prelude::*;
use wavetank_measure::Histogram;

fn reference() -> hdrhistogram::Histogram<u64> {
    hdrhistogram::Histogram::new_with_bounds(1, Histogram::HIGHEST, 2)
        .expect("the bounds are those of the layout")
}

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::default();
    for &ns in values {
        histogram.record(ns);
    }
    histogram
}

/// Nearest rank, the way it is defined.
fn nearest_rank(sorted: &[u64], q_per_mille: u64) -> u64 {
    let rank = (q_per_mille * sorted.len() as u64).div_ceil(1000).max(1);
    sorted[rank as usize - 1]
}

#[test]
fn buckets_are_those_of_hdrhistogram_at_every_edge() {
    let hdr = reference();
    assert_eq!(hdr.distinct_values(), Histogram::BUCKETS, "same number of buckets");
    for index in 0..Histogram::BUCKETS {
        let (low, high) = (Histogram::lowest_equivalent(index), Histogram::highest_equivalent(index));
        assert_eq!((Histogram::index(low), Histogram::index(high)), (index, index), "bucket {index}");
        assert_eq!(hdr.lowest_equivalent(low), low, "bucket {index}");
        assert_eq!(hdr.highest_equivalent(low), high, "bucket {index}");
        if index > 0 {
            assert_eq!(Histogram::highest_equivalent(index - 1) + 1, low, "no gap before bucket {index}");
        }
    }
    assert_eq!(Histogram::highest_equivalent(Histogram::BUCKETS - 1), Histogram::HIGHEST);
}

#[test]
fn values_above_the_top_are_clipped_but_the_maximum_is_exact() {
    let histogram = of(&[5, Histogram::HIGHEST, Histogram::HIGHEST + 1, u64::MAX]);
    assert_eq!(histogram.clipped(), 2);
    assert_eq!(histogram.max(), u64::MAX);
    assert_eq!(histogram.sum(), 5 + 2 * u128::from(Histogram::HIGHEST) + 1 + u128::from(u64::MAX));
    assert_eq!(histogram.percentile(100.0), Some(Histogram::HIGHEST), "the top bucket knows no more");
    assert_eq!(histogram.iter().collect::<Vec<_>>(), [(5, 1), (Histogram::BUCKETS - 1, 3)]);
}

#[test]
fn memory_reaches_as_far_as_values_do() {
    let buckets = |histogram: &Histogram| histogram.parts().0.len();
    let mut growing = of(&[100]);
    assert_eq!(buckets(&growing), 512);
    // Some 0.1 ms, the time of most responses.
    growing.record(131_071);
    assert_eq!(buckets(&growing), 1_536);
    let mut merged = of(&[1]);
    merged.merge(&growing);
    assert_eq!(buckets(&merged), 1_536);
    growing.record(u64::MAX);
    assert_eq!(buckets(&growing), Histogram::BUCKETS);
    growing.clear();
    assert_eq!(buckets(&growing), Histogram::BUCKETS, "kept for the next values");
}

#[test]
fn an_empty_histogram_has_no_percentile_and_zeros_elsewhere() {
    let mut cleared = of(&[7, 9]);
    cleared.clear();
    let untouched = {
        let mut histogram = Histogram::default();
        histogram.record_n(5, 0);
        histogram
    };
    for empty in [Histogram::default(), cleared, untouched] {
        assert!(empty.is_empty());
        assert_eq!((empty.min(), empty.max(), empty.sum(), empty.percentile(50.0)), (0, 0, 0, None));
        assert!(empty.is_uncertain(50.0));
        assert_eq!(empty, Histogram::default());
    }
}

#[test]
fn percentiles_are_nearest_rank_capped_by_the_exact_maximum() {
    fn check(values: std::ops::RangeInclusive<u64>, q: f64, expected: u64) {
        let histogram = of(&values.clone().collect::<Vec<_>>());
        assert_eq!(histogram.percentile(q), Some(expected), "p{q} of {values:?}");
    }
    check(1..=100, 0.0, 1);
    check(1..=100, 50.0, 50);
    check(1..=100, 99.0, 99);
    check(1..=100, 99.1, 100);
    check(1..=100, 100.0, 100);
    check(1..=200, 99.9, 200);
    // 99.9 and 99.99 are not exact in binary; their ranks are.
    check(1..=1, 99.9, 1);
    check(1001..=2000, 99.9, 1999);
    check(1_000_000..=1_000_000, 50.0, 1_000_000);
    let mut thousand = Histogram::default();
    thousand.record_n(10, 999);
    thousand.record_n(20, 1);
    assert_eq!((thousand.percentile(99.9), thousand.percentile(99.91)), (Some(10), Some(20)));
    let mut many = Histogram::default();
    many.record_n(10, 9_999_000_000);
    many.record_n(20, 1_000_000);
    assert_eq!((many.percentile(99.99), many.percentile(99.991)), (Some(10), Some(20)));
}

#[test]
fn fewer_than_ten_samples_above_make_a_percentile_uncertain() {
    fn check(count: u64, q: f64, uncertain: bool) {
        let mut histogram = Histogram::default();
        histogram.record_n(5, count);
        assert_eq!(histogram.is_uncertain(q), uncertain, "p{q} of {count}");
    }
    check(19, 50.0, true);
    check(20, 50.0, false);
    check(999, 99.0, true);
    check(1000, 99.0, false);
    check(9_999, 99.9, true);
    check(10_000, 99.9, false);
    check(99_999, 99.99, true);
    check(100_000, 99.99, false);
}

#[test]
fn parts_that_contradict_one_another_are_no_histogram() {
    let good = of(&[3, 300, 4000]);
    let (counts, clipped, min, max, sum) = good.parts();
    // Rebuilds in used memory, as when an archive is read.
    let again = |counts: &[u64], clipped, min, max, sum| {
        let mut histogram = of(&[7, 300, 1 << 41]);
        let fill = |buckets: &mut [u64]| {
            let from = counts.get(Histogram::index(min)..)?;
            buckets.copy_from_slice(from.get(..buckets.len())?);
            Some(buckets.iter().sum())
        };
        let sound = histogram.rebuild(clipped, min, max, sum, fill);
        assert_eq!(sound, !histogram.is_empty());
        assert!(sound || histogram == Histogram::default());
        histogram.record(9);
        assert_eq!(
            histogram.iter().map(|(_, n)| n).sum::<u64>(),
            histogram.count(),
            "nothing is left of before"
        );
        sound.then_some(histogram)
    };
    let mut and_nine = good.clone();
    and_nine.record(9);
    assert_eq!(again(counts, clipped, min, max, sum), Some(and_nine));
    let shifted: Vec<_> = counts.iter().skip(1).chain(&[0]).copied().collect();
    for broken in [
        again(&counts[1..], clipped, min, max, sum),
        again(&shifted, clipped, min, max, sum),
        again(counts, 1, min, max, sum),
        again(counts, clipped, min + 1, max, sum),
        again(counts, clipped, max, min, sum),
        again(counts, clipped, min, max * 2, sum),
        again(counts, clipped, min, max, 3 * u128::from(max) + 1),
        again(counts, clipped, min, max, 8),
        again(&vec![0; Histogram::BUCKETS], 0, 0, 0, 0),
    ] {
        assert_eq!(broken, None);
    }
}

/// Values of every size: the octave is drawn first.
fn value() -> impl Strategy<Value = u64> {
    (0_u32..43, any::<u64>()).prop_map(|(bits, random)| if bits == 0 { 0 } else { random >> (64 - bits) })
}

proptest! {
    #[test]
    fn every_value_falls_into_the_bucket_of_hdrhistogram(ns in 0..=Histogram::HIGHEST, small in value()) {
        let hdr = reference();
        for ns in [ns, small] {
            let index = Histogram::index(ns);
            prop_assert_eq!(hdr.lowest_equivalent(ns), Histogram::lowest_equivalent(index));
            prop_assert_eq!(hdr.highest_equivalent(ns), Histogram::highest_equivalent(index));
            prop_assert!(Histogram::highest_equivalent(index) - Histogram::lowest_equivalent(index) <= ns / 128);
        }
    }

    #[test]
    fn percentiles_agree_with_sorting(mut values in prop::collection::vec(value(), 1..400), per_mille in 0_u64..=1000) {
        let histogram = of(&values);
        values.sort_unstable();
        let exact = nearest_rank(&values, per_mille);
        let expected = Histogram::highest_equivalent(Histogram::index(exact)).min(values[values.len() - 1]);
        prop_assert_eq!(histogram.percentile(per_mille as f64 / 10.0), Some(expected));
        prop_assert_eq!(histogram.min(), values[0]);
        prop_assert_eq!(histogram.sum(), values.iter().map(|&ns| u128::from(ns)).sum::<u128>());
    }

    #[test]
    fn merging_is_recording_in_any_order(
        parts in prop::collection::vec(prop::collection::vec(value(), 0..50), 1..6),
        rotation in 0_usize..6,
    ) {
        let all = of(&parts.concat());
        let mut histograms: Vec<_> = parts.iter().map(|values| of(values)).collect();
        let count = histograms.len();
        histograms.rotate_left(rotation % count);
        let mut merged = of(&[1, 2, 3]);
        merged.clear();
        for part in &histograms {
            merged.merge(part);
        }
        prop_assert_eq!(&merged, &all);
        prop_assert_eq!(merged.iter().map(|(_, n)| n).sum::<u64>(), all.count());
    }
}
