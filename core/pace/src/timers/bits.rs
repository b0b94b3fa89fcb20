//! [`SlotBitmap`]: a set of slots with a fast search for the first one from a given slot on.

use std::ops::Range;

/// Which of up to 65,536 slots hold something: one bit each, and one bit for each 64 of them.
#[derive(Clone, Debug)]
pub(super) struct SlotBitmap {
    words: Vec<u64>,
    summary: Vec<u64>,
}

impl SlotBitmap {
    /// `slots` empty slots, a multiple of 4096.
    pub(super) fn new(slots: usize) -> Self {
        Self { words: vec![0; slots / 64], summary: vec![0; slots / 4096] }
    }

    pub(super) fn contains(&self, slot: usize) -> bool {
        self.words[slot / 64] >> (slot % 64) & 1 != 0
    }

    pub(super) fn set(&mut self, slot: usize) {
        self.words[slot / 64] |= 1 << (slot % 64);
        self.summary[slot / 4096] |= 1 << (slot / 64 % 64);
    }

    pub(super) fn clear(&mut self, slot: usize) {
        self.words[slot / 64] &= !(1 << (slot % 64));
        if self.words[slot / 64] == 0 {
            self.summary[slot / 4096] &= !(1 << (slot / 64 % 64));
        }
    }

    /// Whether none of these slots is set. The range begins and ends at multiples of 64.
    pub(super) fn is_clear(&self, slots: Range<usize>) -> bool {
        self.words[slots.start / 64..slots.end / 64].iter().all(|&word| word == 0)
    }

    /// The first set slot at or after `from`.
    pub(super) fn first_from(&self, from: usize) -> Option<usize> {
        let word = from / 64;
        let here = self.words.get(word)? & (u64::MAX << (from % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        let after = word + 1;
        let summary = after / 64;
        let here = self.summary.get(summary)? & (u64::MAX << (after % 64));
        let first = |summary: usize, bits: u64| {
            let word = summary * 64 + bits.trailing_zeros() as usize;
            word * 64 + self.words[word].trailing_zeros() as usize
        };
        if here != 0 {
            return Some(first(summary, here));
        }
        let later = summary + 1..self.summary.len();
        later.map(|s| (s, self.summary[s])).find(|&(_, bits)| bits != 0).map(|(s, bits)| first(s, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_plain_search_finds() {
        for slots in [4_096, 65_536] {
            let mut bits = SlotBitmap::new(slots);
            let set = [0, 1, 63, 64, 65, 4_000, 4_095, 4_096, 5_000, 40_000, 65_535];
            let set: Vec<usize> = set.into_iter().filter(|&slot| slot < slots).collect();
            for &slot in &set {
                bits.set(slot);
            }
            let check = |bits: &SlotBitmap, set: &[usize]| {
                for from in 0..slots {
                    let expected = set.iter().copied().find(|&slot| slot >= from);
                    assert_eq!(bits.first_from(from), expected, "from {from} of {slots}");
                }
            };
            check(&bits, &set);
            for k in 0..set.len() {
                bits.clear(set[k]);
                check(&bits, &set[k + 1..]);
            }
        }
    }
}
