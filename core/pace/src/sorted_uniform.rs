//! [`SortedUniform`]: the sorted positions of one block's arrivals, drawn only where they are
//! requested.

use crate::random::{StreamId, philox};

/// `count` independent, uniformly distributed places in a block, in sorted order, as 64-bit
/// fractions of it.
///
/// The places are found with a binary tree over the block. A node with n places gives each of them
/// to its left or right half by one random bit. The left count is therefore binomial and exact: it
/// is the number of ones among n bits. Leaves hold at most [`LEAF_MAX`] places, which are drawn and
/// sorted.
///
/// Bits come from a counter that names the node, so every walk of the tree finds the same places. A
/// walk looks only into nodes that hold requested ordinals. One step costs at most the bits of one
/// path, never a sort of the whole block.
#[derive(Clone, Debug)]
pub(crate) struct SortedUniform {
    key: [u64; 2],
    number: u64,
    /// Nodes not yet walked, the next one on top. There is at most one per level, because its
    /// halves replace a node.
    stack: [Node; DEPTH_MAX + 1],
    depth: usize,
    leaf: Node,
    places: [u64; LEAF_MAX],
}

/// The maximum number of places in a leaf.
const LEAF_MAX: usize = 32;
/// Nodes at this depth are leaves whatever they hold. With counts below 2^24 no node is ever that
/// deep.
const DEPTH_MAX: usize = 60;

/// `count` places from ordinal `start` on, all of which begin with the `bits` bits `prefix`.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    bits: u32,
    prefix: u64,
    start: u64,
    count: u64,
}

impl SortedUniform {
    /// A block without arrivals.
    pub(crate) const fn empty() -> Self {
        let node = Node { bits: 0, prefix: 0, start: 0, count: 0 };
        Self {
            key: [0; 2],
            number: 0,
            stack: [node; DEPTH_MAX + 1],
            depth: 0,
            leaf: node,
            places: [0; LEAF_MAX],
        }
    }

    /// Begins block number `block` of the stream `key`, with `count` arrivals.
    pub(crate) fn begin(&mut self, key: [u64; 2], block: u64, count: u64) {
        self.key = key;
        self.number = block;
        self.stack[0] = Node { bits: 0, prefix: 0, start: 0, count };
        self.depth = 1;
        self.leaf = Node::default();
    }

    /// Returns the place of the arrival with this ordinal. Ordinals must be requested in rising
    /// order, below `count`.
    pub(crate) fn nth_position(&mut self, ordinal: u64) -> u64 {
        while ordinal >= self.leaf.start + self.leaf.count {
            self.depth -= 1;
            let node = self.stack[self.depth];
            if ordinal >= node.start + node.count {
                continue;
            }
            if node.is_leaf() {
                self.places = node.draw(self.key, self.number);
                self.leaf = node;
            } else {
                let (left, right) = node.halves(self.key, self.number);
                self.stack[self.depth] = right;
                self.stack[self.depth + 1] = left;
                self.depth += 2;
            }
        }
        self.places[(ordinal - self.leaf.start) as usize]
    }

    /// Returns how many of `count` places are below `cut` (up to 2^64, hence the width).
    pub(crate) fn count_below(key: [u64; 2], block: u64, count: u64, cut: u128) -> u64 {
        let mut node = Node { bits: 0, prefix: 0, start: 0, count };
        while !node.is_leaf() {
            let (left, right) = node.halves(key, block);
            node = if cut < right.begin() { left } else { right };
        }
        let places = node.draw(key, block);
        node.start + places[..node.count as usize].partition_point(|&place| u128::from(place) < cut) as u64
    }
}

impl Node {
    fn is_leaf(&self) -> bool {
        self.count <= LEAF_MAX as u64 || self.bits as usize >= DEPTH_MAX
    }

    /// Returns the lowest place it can hold.
    fn begin(&self) -> u128 {
        u128::from(self.prefix) << (64 - self.bits)
    }

    /// Returns the name of the node within its block: a one, followed by its prefix.
    fn id(&self) -> u64 {
        1 << self.bits | self.prefix
    }

    fn words(&self, key: [u64; 2], block: u64, chunk: u64) -> [u64; 4] {
        philox([chunk, block, self.id(), StreamId::Place as u64], key)
    }

    fn halves(&self, key: [u64; 2], block: u64) -> (Self, Self) {
        let mut right_count = 0;
        let mut bits_left = self.count;
        let mut chunk = 0;
        while bits_left > 0 {
            for word in self.words(key, block, chunk) {
                let used = bits_left.min(64);
                right_count += u64::from((word & mask(used)).count_ones());
                bits_left -= used;
            }
            chunk += 1;
        }
        let (bits, prefix) = (self.bits + 1, self.prefix << 1);
        let count = self.count - right_count;
        let left = Self { bits, prefix, start: self.start, count };
        (left, Self { bits, prefix: prefix | 1, start: self.start + count, count: right_count })
    }

    /// The places of a leaf, sorted.
    fn draw(&self, key: [u64; 2], block: u64) -> [u64; LEAF_MAX] {
        let mut places = [u64::MAX; LEAF_MAX];
        let count = (self.count as usize).min(LEAF_MAX);
        let begin = self.begin() as u64;
        for (chunk, four) in places[..count].chunks_mut(4).enumerate() {
            let words = self.words(key, block, chunk as u64);
            four.iter_mut().zip(words).for_each(|(place, word)| *place = begin | word >> self.bits);
        }
        places[..count].sort_unstable();
        places
    }
}

/// The lowest `bits` bits set; 0 to 64 of them.
const fn mask(bits: u64) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walking gives sorted places for any subset of ordinals, and `rank` agrees with them.
    fn check(count: u64) {
        let key = [11, count];
        let mut block = SortedUniform::empty();
        block.begin(key, 5, count);
        let all: Vec<u64> = (0..count).map(|ordinal| block.nth_position(ordinal)).collect();
        assert!(all.is_sorted(), "count {count}");
        for stride in [2, 3, 50, 1_000] {
            block.begin(key, 5, count);
            for ordinal in (stride / 2..count).step_by(stride as usize) {
                assert_eq!(
                    block.nth_position(ordinal),
                    all[ordinal as usize],
                    "count {count}, every {stride}"
                );
            }
        }
        for cut in (0..=64).map(|k| (1_u128 << 58) * k + 12_345 * u128::from(k % 3 == 1)) {
            let below = all.iter().filter(|&&place| u128::from(place) < cut).count() as u64;
            assert_eq!(SortedUniform::count_below(key, 5, count, cut), below, "count {count}, cut {cut}");
        }
        if count >= 1_000 {
            // Kolmogorov-Smirnov: places are uniformly distributed (1.95 is exceeded once in a
            // thousand).
            let gap =
                |(k, &place): (usize, &u64)| (place as f64 / 2f64.powi(64) - k as f64 / count as f64).abs();
            let distance = all.iter().enumerate().map(gap).fold(0.0, f64::max) * (count as f64).sqrt();
            assert!(distance < 1.95, "count {count}: {distance}");
        }
    }

    #[test]
    fn places_are_sorted_even_and_the_same_for_all() {
        for count in [0, 1, 2, 31, 32, 33, 64, 65, 100, 1_000, 10_000, 123_456] {
            check(count);
        }
    }
}
