//! [`shuffle`]: a random order from a seed.

/// `levels` in an order that `seed` and `round` alone decide (Fisher and Yates).
pub(crate) fn shuffle(levels: &mut [f64], seed: u64, round: u64) {
    let mut state = mixed(seed ^ mixed(round));
    for last in (1..levels.len()).rev() {
        state = mixed(state);
        // The lists are short: the remainder is as good as even.
        levels.swap(last, (state % (last as u64 + 1)) as usize);
    }
}

/// One step of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
/// 2014).
const fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_an_order_and_every_place_is_reached() {
        let order = |seed| {
            let mut levels: Vec<f64> = (0..8).map(f64::from).collect();
            shuffle(&mut levels, seed, 0);
            levels
        };
        assert_eq!(order(7), order(7));
        let mut first = [0; 8];
        for seed in 0..800 {
            first[order(seed)[0] as usize] += 1;
        }
        assert!(first.iter().all(|&count| (60..140).contains(&count)), "{first:?}");
    }
}
