//! Sizes of messages, and the half-bandwidth point.

/// Largest message, bytes.
const BYTES_MAX: u64 = 8 << 20;

/// Returns the sizes of a sweep, ascending: powers of two, and three quarters between them, from
/// 1 B to 8 MiB.
pub fn sweep_bytes() -> Vec<u64> {
    let powers = (0..).map(|exponent| 1_u64 << exponent).take_while(|&size| size <= BYTES_MAX);
    let mut sizes: Vec<u64> = powers.flat_map(|size| [size, size + size / 2]).collect();
    sizes.retain(|&size| size <= BYTES_MAX);
    sizes.dedup();
    sizes
}

/// Returns the size that reaches half of the highest throughput (n½ of Hockney), interpolated on a
/// logarithmic scale of sizes. `points` are sizes and throughputs, ascending by size. `None` if
/// there are none or the smallest size reaches it.
pub fn half_bandwidth_bytes(points: &[(u64, f64)]) -> Option<f64> {
    let half = points.iter().map(|point| point.1).fold(0.0, f64::max) / 2.0;
    let above = points.iter().position(|point| point.1 >= half).filter(|&at| at > 0)?;
    let ((low, below), (high, reached)) = (points[above - 1], points[above]);
    let share = (half - below) / (reached - below);
    let (low, high) = ((low as f64).ln(), (high as f64).ln());
    Some((low + (high - low) * share).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_ascends_from_one_byte_to_8_mib() {
        let sizes = sweep_bytes();
        assert_eq!((sizes.first(), sizes.last()), (Some(&1), Some(&(8 << 20))));
        assert!(sizes.windows(2).all(|pair| pair[0] < pair[1]), "{sizes:?}");
        assert_eq!(sizes.len(), 46);
    }

    #[test]
    fn half_of_a_link_with_a_fixed_latency_is_where_it_takes_as_long_as_the_bytes() {
        // Time = 50 µs + size / 1 GB/s: half of 1 GB/s is reached by 50 kB.
        let points: Vec<(u64, f64)> =
            sweep_bytes().into_iter().map(|size| (size, size as f64 / (50e-6 + size as f64 / 1e9))).collect();
        let half = half_bandwidth_bytes(&points).expect("there is one");
        assert!((half - 50_000.0).abs() < 1_000.0, "{half}");
        assert_eq!(half_bandwidth_bytes(&[]), None);
        assert_eq!(half_bandwidth_bytes(&[(1, 5.0), (2, 6.0)]), None);
    }
}
