//! [`Partition`]: which of the global indices belong to one thread or agent.

/// Owns the global indices `i` with `first <= i % of < first + width`: an exact rational share,
/// `width / of`, interleaved with the others so that every part sees the same load at all times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Partition {
    /// First owned remainder.
    pub first: u64,
    /// Number of consecutive owned remainders; `first + width <= of`. 0 owns nothing.
    pub width: u64,
    /// Indices in one turn; positive.
    pub of: u64,
}

impl Partition {
    /// Owns every index.
    pub const WHOLE: Self = Self { first: 0, width: 1, of: 1 };

    /// Whether the index `i` is owned.
    pub const fn contains(self, i: u64) -> bool {
        let remainder = i % self.of;
        self.first <= remainder && remainder - self.first < self.width
    }

    /// Returns how many owned indices are below `total`. The result is exact, so the counts of a
    /// partition sum to `total`.
    pub const fn count_below(self, total: u64) -> u64 {
        let rest = (total % self.of).saturating_sub(self.first);
        let rest = if rest < self.width { rest } else { self.width };
        total / self.of * self.width + rest
    }

    /// Returns the `k`-th owned index, counted from 0; `None` if it exceeds 64 bits or if nothing
    /// is owned.
    pub const fn nth_checked(self, k: u64) -> Option<u64> {
        if self.width == 0 {
            return None;
        }
        match (k / self.width).checked_mul(self.of) {
            Some(turn) => turn.checked_add(self.first + k % self.width),
            None => None,
        }
    }

    /// Returns the `k`-th owned index, counted from 0; `u64::MAX` if it exceeds 64 bits or if
    /// nothing is owned.
    pub const fn nth(self, k: u64) -> u64 {
        match self.nth_checked(k) {
            Some(index) => index,
            None => u64::MAX,
        }
    }

    /// Returns the `k`-th of `parts` equal parts of this share. Together they own exactly what the
    /// share owns.
    ///
    /// # Panics
    /// If `k >= parts`, or if the turn of the result would exceed 64 bits. The turn is the product
    /// of threads, agents and weights.
    #[must_use]
    pub const fn split(self, parts: u64, k: u64) -> Self {
        assert!(k < parts, "a part is one of the parts");
        // The remainders are dealt out first, to the greatest common divisor of `width` and
        // `parts`. The rest of `parts` divides the turns. This order keeps the runs of consecutive
        // indices of one part short.
        let dealt = greatest_common_divisor(self.width, parts);
        let width = self.width / dealt;
        let turn = k / dealt;
        let of = self.of.checked_mul(parts / dealt).expect("the turn of a share fits 64 bits");
        Self { first: self.first + k % dealt * width + turn * self.of, width, of }
    }
}

/// Splits the whole into one share for each weight, in their order. Share `k` is exactly
/// `weights[k] / sum`, and the shares together own every index once. A weight of 0 owns nothing.
///
/// The owner of consecutive indices changes at least once in each turn, and a turn has
/// `sum / gcd` indices. Weights with a small sum interleave finely, so callers round measured
/// weights first.
///
/// # Panics
/// If the sum of the weights is 0 or exceeds 64 bits.
pub fn weighted_shares(weights: &[u64]) -> Vec<Partition> {
    let sum = weights.iter().try_fold(0_u64, |sum, &weight| sum.checked_add(weight));
    let sum = sum.filter(|&sum| sum > 0).expect("the weights have a positive sum of 64 bits");
    let divisor = weights.iter().fold(sum, |divisor, &weight| greatest_common_divisor(weight, divisor));
    let mut first = 0;
    weights
        .iter()
        .map(|&weight| {
            let width = weight / divisor;
            let share = Partition { first, width, of: sum / divisor };
            first += width;
            share
        })
        .collect()
}

/// Euclid's algorithm; the result is positive because `b` is.
pub(crate) const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `parts` own every index of `whole` exactly once, and count and enumerate what they own.
    fn check(whole: Partition, parts: &[Partition]) {
        for total in 0..400 {
            let owners: Vec<_> = parts.iter().filter(|part| part.contains(total)).collect();
            assert_eq!(owners.len(), usize::from(whole.contains(total)), "index {total} of {parts:?}");
            let counted: u64 = parts.iter().map(|part| part.count_below(total)).sum();
            assert_eq!(counted, whole.count_below(total), "below {total} of {parts:?}");
        }
        for part in parts {
            let listed: Vec<u64> = (0..400).filter(|&i| part.contains(i)).collect();
            for (k, &index) in listed.iter().enumerate() {
                assert_eq!(part.nth(k as u64), index, "{part:?}");
                assert_eq!(part.count_below(index), k as u64, "{part:?}");
            }
        }
    }

    #[test]
    fn splitting_partitions_exactly() {
        let weighted = [(0, 3), (3, 1), (4, 6)].map(|(first, width)| Partition { first, width, of: 10 });
        check(Partition::WHOLE, &weighted);
        for whole in [Partition::WHOLE, weighted[0], weighted[1], weighted[2]] {
            for parts in [1, 2, 3, 4, 6, 7, 12] {
                let split: Vec<Partition> = (0..parts).map(|k| whole.split(parts, k)).collect();
                check(whole, &split);
                let twice: Vec<Partition> =
                    split.iter().flat_map(|s| (0..3).map(|k| s.split(3, k))).collect();
                check(whole, &twice);
            }
        }
    }

    #[test]
    fn weights_partition_exactly_and_in_lowest_terms() {
        for (weights, turn) in [
            (vec![1], 1),
            (vec![7], 1),
            (vec![4, 1, 1], 6),
            (vec![20, 10, 0, 30], 6),
            (vec![3, 3, 3], 3),
            (vec![13, 29, 17, 5], 64),
        ] {
            let shares = weighted_shares(&weights);
            assert!(shares.iter().all(|share| share.of == turn), "{weights:?}: {shares:?}");
            check(Partition::WHOLE, &shares);
            let sum: u64 = weights.iter().sum();
            for (share, weight) in shares.iter().zip(&weights) {
                assert_eq!(share.width * sum, weight * share.of, "{weights:?}: an exact share");
            }
        }
    }

    #[test]
    fn the_ends_of_the_range_hold() {
        let nothing = Partition { first: 2, width: 0, of: 5 };
        check(nothing, &[]);
        assert_eq!(nothing.nth_checked(0), None);
        let odd = Partition::WHOLE.split(2, 1);
        assert_eq!(odd.nth(u64::MAX / 2), u64::MAX);
        assert_eq!(odd.nth_checked(u64::MAX / 2 + 1), None);
        assert_eq!(odd.count_below(u64::MAX), u64::MAX / 2);
    }
}
