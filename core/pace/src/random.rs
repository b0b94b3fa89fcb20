//! [`Philox`]: random values that depend on a key and a counter, and on nothing else.
//!
//! Philox4x64-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1,
//! 2, 3", SC 2011.
//!
//! It is preferred to mixing the key into a `SplitMix64` because two keys can never collide. Every
//! (key, counter) has its own output block, so users, sessions and blocks of the schedule are
//! guaranteed to be independent.

/// A stream of random values, fixed by (seed, domain, index).
#[derive(Clone, Debug)]
pub struct Philox {
    key: [u64; 2],
    index: u64,
    blocks: u64,
    words: [u64; 4],
    used: u8,
}

impl Philox {
    /// Returns the stream of `index` (a session, a user, a row …) within `domain` (the kind of
    /// choice) of `seed`.
    pub const fn keyed(seed: u64, domain: u64, index: u64) -> Self {
        Self { key: [seed, domain], index, blocks: 0, words: [0; 4], used: 4 }
    }

    /// Returns word `number` of a stream without computing the previous ones. The result equals
    /// that of calling [`next_u64`](Self::next_u64) `number` + 1 times.
    pub const fn nth_word(seed: u64, domain: u64, index: u64, number: u64) -> u64 {
        let words = philox([number / 4, index, 0, StreamId::Stream as u64], [seed, domain]);
        words[(number % 4) as usize]
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        if self.used == 4 {
            self.words = philox([self.blocks, self.index, 0, StreamId::Stream as u64], self.key);
            self.blocks += 1;
            self.used = 0;
        }
        let word = self.words[usize::from(self.used)];
        self.used += 1;
        word
    }

    /// A number in [0, 1), on a grid of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number in [0, `n`), each equally likely (D. Lemire, "Fast random integer
    /// generation in an interval", 2019). Returns 0 for `n` = 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let unfair_below = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            if product as u64 >= unfair_below {
                return (product >> 64) as u64;
            }
        }
    }
}

/// The purpose of a block of random values. It is part of the counter, so that two purposes
/// never share a block.
#[derive(Clone, Copy)]
pub(crate) enum StreamId {
    /// A [`Philox`].
    Stream,
    /// The number of arrivals in a block of the schedule.
    Count,
    /// The positions of arrivals within the block.
    Place,
}

/// Returns four random 64-bit values for a counter under a key.
#[inline]
pub(crate) const fn philox(counter: [u64; 4], key: [u64; 2]) -> [u64; 4] {
    let [mut c0, mut c1, mut c2, mut c3] = counter;
    let [mut k0, mut k1] = key;
    let mut round = 0;
    while round < 10 {
        let left = 0xD2E7_470E_E14C_6C93_u128 * c0 as u128;
        let right = 0xCA5A_8263_9512_1157_u128 * c2 as u128;
        (c0, c1, c2, c3) =
            ((right >> 64) as u64 ^ c1 ^ k0, right as u64, (left >> 64) as u64 ^ c3 ^ k1, left as u64);
        k0 = k0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        k1 = k1.wrapping_add(0xBB67_AE85_84CA_A73B);
        round += 1;
    }
    [c0, c1, c2, c3]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers published with the algorithm (Random123, `kat_vectors`).
    #[test]
    fn philox_gives_the_published_answers() {
        let check = |counter, key, expected| assert_eq!(philox(counter, key), expected);
        check(
            [0; 4],
            [0; 2],
            [0x1655_4d9e_ca36_314c, 0xdb20_fe9d_672d_0fdc, 0xd7e7_72ce_e186_176b, 0x7e68_b68a_ec7b_a23b],
        );
        check(
            [u64::MAX; 4],
            [u64::MAX; 2],
            [0x87b0_92c3_013f_e90b, 0x438c_3c67_be8d_0224, 0x9cc7_d7c6_9cd7_77b6, 0xa09c_aebf_594f_0ba0],
        );
        check(
            [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89],
            [0x4528_21e6_38d0_1377, 0xbe54_66cf_34e9_0c6c],
            [0xa528_f454_03e6_1d95, 0x38c7_2dbd_566e_9788, 0xa5a1_610e_72fd_18b5, 0x57bd_43b5_e52b_7fe6],
        );
    }

    #[test]
    fn a_stream_is_fixed_by_its_key_and_by_all_of_it() {
        let take = |seed, domain, index| {
            let mut random = Philox::keyed(seed, domain, index);
            std::array::from_fn::<u64, 9, _>(|_| random.next_u64())
        };
        let all = [take(1, 2, 3), take(0, 2, 3), take(1, 0, 3), take(1, 2, 0)];
        assert_eq!(all[0], take(1, 2, 3));
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a.iter().all(|word| !b.contains(word))), "streams meet");
        }
    }

    #[test]
    fn below_and_unit_cover_their_range_evenly() {
        let mut random = Philox::keyed(5, 0, 0);
        for n in [1, 2, 3, 10, 1000] {
            let mut seen = vec![0_u64; n as usize];
            let draws = 2_000 * n;
            (0..draws).for_each(|_| seen[random.below(n) as usize] += 1);
            let chi_square: f64 = seen.iter().map(|&k| (k as f64 - 2_000.0).powi(2) / 2_000.0).sum();
            let freedom = (n - 1) as f64;
            assert!(chi_square <= freedom + 5.0 * (2.0 * freedom).sqrt(), "n {n}: chi square {chi_square}");
        }
        assert_eq!(random.below(0), 0);
        let huge = (1 << 63) + 1;
        assert!((0..1000).all(|_| random.below(huge) < huge));
        let mean =
            (0..100_000).map(|_| random.unit()).inspect(|u| assert!((0.0..1.0).contains(u))).sum::<f64>()
                / 1e5;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
    }
}
