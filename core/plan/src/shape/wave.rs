//! A wave: half a cosine down, half up, in straight pieces from a table.
//!
//! The table makes it exact and the same on every machine, because `cos` differs between C
//! libraries and processors.

/// Straight pieces of one period: the line leaves the cosine by at most 0.12 % of the swing.
pub(super) const PIECES: usize = 64;
/// Scale of the table's values.
pub(super) const SCALE: i128 = 65_536;

/// cos(2π k / 64) × 65,536 for the first quarter of a period, rounded.
const QUARTER: [i32; PIECES / 4 + 1] = [
    65_536, 65_220, 64_277, 62_714, 60_547, 57_798, 54_491, 50_660, 46_341, 41_576, 36_410, 30_893, 25_080,
    19_024, 12_785, 6_424, 0,
];

/// cos(2π k / 64) × [`SCALE`].
pub(super) fn cosine(k: usize) -> i128 {
    let half = PIECES / 2;
    let k = k % PIECES;
    // cos(2π − x) = cos x, cos(π − x) = −cos x.
    let k = if k > half { PIECES - k } else { k };
    if k <= half / 2 { i128::from(QUARTER[k]) } else { -i128::from(QUARTER[half - k]) }
}

/// Returns the position of knot number `k` in a period of `period` ns.
pub(super) fn knot(period: u64, k: usize) -> u64 {
    (u128::from(period) * k as u128 / PIECES as u128) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_cosine() {
        for k in 0..=PIECES * 2 {
            let exact = (k as f64 / PIECES as f64 * std::f64::consts::TAU).cos() * SCALE as f64;
            assert!((cosine(k) as f64 - exact).abs() <= 0.5, "{k}: {} {exact}", cosine(k));
        }
        assert_eq!((knot(1_000, 0), knot(1_000, 64), knot(100, 1)), (0, 1_000, 1));
    }
}
