//! [`CountedLimit`]: splits totals such as `max_open` and `-n` over threads without losing a unit.

/// The arithmetic of a total that several parts use up.
///
/// Each part owns a share of the total. The remainder is common: the engine keeps it in an atomic.
/// A part that has used up its own share borrows from the remainder in batches. A part may give up
/// only when its own share *and* the remainder are empty.
#[derive(Clone, Copy, Debug)]
pub struct CountedLimit;

impl CountedLimit {
    /// The largest batch that is borrowed in one step. It is large enough to make contention on the
    /// remainder rare.
    pub const BATCH_MAX: u64 = 1_024;

    /// Returns the share that each of `parts` parts owns, and the common remainder. They sum to
    /// `total`.
    ///
    /// With several parts, half of the total is common. Equal shares alone would let a fast part
    /// starve while a slow part still holds its own. `parts` is positive.
    pub fn split(total: u64, parts: u64) -> (Vec<u64>, u64) {
        let own = if parts <= 1 { total } else { total / 2 / parts };
        let parts = parts.max(1);
        (vec![own; parts as usize], total - own * parts)
    }

    /// Returns how many units to borrow when `remaining` are left in the remainder.
    ///
    /// This is a fair part of half of it (guided self-scheduling: Polychronopoulos and Kuck, 1987).
    /// It is at least one while one is left, and at most [`Self::BATCH_MAX`].
    pub fn batch(remaining: u64, parts: u64) -> u64 {
        (remaining / 2 / parts.max(1)).clamp(1, Self::BATCH_MAX).min(remaining)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Philox;

    /// Parts use the limit up in random order and at unequal speed. Every unit must be used exactly
    /// once.
    fn check(total: u64, parts: u64, seed: u64) {
        let (mut own, mut remainder) = CountedLimit::split(total, parts);
        assert_eq!(own.len() as u64, parts);
        assert_eq!(own.iter().sum::<u64>() + remainder, total, "seed {seed}");
        let mut random = Philox::keyed(seed, 0, 0);
        let (mut used, mut loans) = (0, 0);
        let mut given_up = vec![false; parts as usize];
        while !given_up.iter().all(|&done| done) {
            // The lowest part is the fastest: it acts half of the time.
            let part = (random.below(parts) * random.below(2)) as usize;
            if own[part] == 0 {
                let batch = CountedLimit::batch(remainder, parts);
                assert!(batch <= remainder && batch <= CountedLimit::BATCH_MAX, "seed {seed}");
                assert!(batch > 0 || remainder == 0, "seed {seed}: a drop although some are left");
                remainder -= batch;
                own[part] += batch;
                loans += u64::from(batch > 0);
            }
            if own[part] > 0 {
                own[part] -= 1;
                used += 1;
            } else {
                given_up[part] = true;
            }
        }
        assert_eq!(used, total, "seed {seed}");
        let bound = 2 * parts * (70 + total / CountedLimit::BATCH_MAX);
        assert!(loans <= bound, "seed {seed}: {loans} loans of {total} by {parts}");
    }

    #[test]
    fn nothing_is_lost_and_nothing_used_twice() {
        for (seed, total) in [0, 1, 2, 3, 7, 100, 101, 9_999, 50_000].into_iter().enumerate() {
            for parts in [1, 2, 3, 7, 64] {
                check(total, parts, seed as u64);
            }
        }
        let (own, remainder) = CountedLimit::split(u64::MAX, 3);
        assert_eq!(own.iter().sum::<u64>() + remainder, u64::MAX);
    }
}
