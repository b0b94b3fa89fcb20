//! [`PoissonArrivals`]: arrivals at random, the same for everybody who knows the seed.

use wavetank_plan::{Nanos, Rate, RateCurve};

use crate::poisson_table::PoissonTable;
use crate::random::{StreamId, philox};
use crate::sorted_uniform::SortedUniform;

/// A Poisson process under a rate that is straight in pieces, and changed at any instant.
///
/// Time is cut into blocks of 10 ms from the start. Each segment draws, for each block it touches, the count
/// and places of a whole block from a counter keyed (seed, phase, segment, block) and keeps the arrivals that
/// fall inside the segment: a restricted Poisson process is one, so any change at any instant is exact, and
/// what came before it stays as it was. Everybody draws every count (that is what numbers the arrivals),
/// but looks up only the places of his own.
///
/// Under a rate that moves, the blocks are cut from a time of its own, which passes as fast as arrivals come: a block
/// lasts 10 ms at the curve's highest rate and longer below. There the process has one rate, and each arrival is put
/// where the curve's integral comes to its place (the time change of point processes: F. Papangelou, 1972).
#[derive(Clone, Debug)]
pub(crate) struct PoissonArrivals {
    seed: u64,
    phase: u16,
    start: Nanos,
    end: Nanos,
    /// In order of time, never empty. The first one begins at `start`; all others are constant.
    segments: Vec<Segment>,
    cursor: Cursor,
    /// The last index asked for, and where it was found.
    asked: Option<(u64, Cursor)>,
    /// Where the index before that was found. Asking on means that it is past, so a change never reaches
    /// further back than this.
    settled: Cursor,
    block: SortedUniform,
    /// Count words of four blocks, and whose they are: one draw serves four.
    words: [u64; 4],
    words_of: Option<(usize, u64)>,
}

#[derive(Clone, Debug)]
struct Segment {
    from: Nanos,
    curve: RateCurve,
    /// Whether its blocks are cut from a time of its own.
    moves: bool,
    counts: PoissonTable,
    begin: BlockPosition,
    /// Where the next one begins, in this one's blocks.
    end: Option<BlockPosition>,
}

/// A place in the blocks: what is below `cut` (of 2^64) in the block lies before it.
#[derive(Clone, Copy, Debug, Default)]
struct BlockPosition {
    block: u64,
    cut: u128,
}

/// The part of a segment that lies in one block: arrivals number `base` to `base + (last − first)`, which are
/// the ordinals `first` to `last` of the block's draw.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    segment: usize,
    block: u64,
    base: u64,
    first: u64,
    last: u64,
    /// Whether `first`, `last` and the walk are set up.
    open: bool,
}

const BLOCK: Nanos = Nanos::from_millis(10);

impl PoissonArrivals {
    pub(crate) fn new(seed: u64, phase: u16, start: Nanos, end: Nanos, rate: &RateCurve) -> Self {
        Self {
            seed,
            phase,
            start,
            end,
            segments: vec![Segment::new(start, rate.clone(), BlockPosition::default())],
            cursor: Cursor::default(),
            asked: None,
            settled: Cursor::default(),
            block: SortedUniform::empty(),
            words: [0; 4],
            words_of: None,
        }
    }

    /// When `index` falls due; asked in rising order, and again only after a change.
    pub(crate) fn instant_at(&mut self, index: u64) -> Option<Nanos> {
        if let Some((asked, found)) = self.asked
            && asked < index
        {
            self.settled = found;
        }
        loop {
            if !self.cursor.open {
                self.open()?;
            }
            let Cursor { segment, block, base, first, last, .. } = self.cursor;
            if index < base + (last - first) {
                self.asked = Some((index, self.cursor));
                let place = self.block.nth_position(first + (index - base));
                return instant_after(self.start, self.segments[segment].since_start(block, place)?);
            }
            self.next_part();
        }
    }

    /// From `at` on the rate is `rate`, whatever was planned before.
    pub(crate) fn change(&mut self, at: Nanos, rate: Rate) {
        let keep = self.segments.partition_point(|segment| segment.from < at);
        self.segments.truncate(keep);
        let at = if keep == 0 { self.start } else { at };
        let since = Nanos(at.since(self.start) as i64);
        if let Some(last) = self.segments.last_mut() {
            last.end = Some(last.spot(since));
        }
        self.segments.push(Segment::new(at, RateCurve::constant(rate, None), BlockPosition::after(since)));
        // The count of the part that holds `at` has changed, so everything is opened again.
        self.cursor = Cursor { open: false, ..self.settled };
        self.words_of = None;
    }

    fn next_part(&mut self) {
        let cursor = &mut self.cursor;
        cursor.base += cursor.last - cursor.first;
        cursor.open = false;
        if self.segments[cursor.segment].end.is_some_and(|end| end.block <= cursor.block) {
            cursor.segment += 1;
            cursor.block = self.segments[cursor.segment].begin.block;
        } else {
            cursor.block += 1;
        }
    }

    /// Draw the count of the cursor's part; `None` when no more can come.
    fn open(&mut self) -> Option<()> {
        while self.segments[self.cursor.segment].curve.max().count == 0 {
            let next = self.segments.get(self.cursor.segment + 1)?;
            self.cursor.segment += 1;
            self.cursor.block = next.begin.block;
        }
        let Cursor { segment, block, .. } = self.cursor;
        let known = &self.segments[segment];
        if instant_after(self.start, known.since_start(block, 0)?)? >= self.end {
            return None;
        }
        let key = [self.seed, (segment as u64) << 16 | u64::from(self.phase)];
        if self.words_of != Some((segment, block / 4)) {
            self.words = philox([block / 4, 0, 0, StreamId::Count as u64], key);
            self.words_of = Some((segment, block / 4));
        }
        let count = known.counts.count(self.words[(block % 4) as usize]);
        let rank = |spot: BlockPosition| match spot.cut {
            0 => 0,
            cut => SortedUniform::count_below(key, block, count, cut),
        };
        let first = if block == known.begin.block && count > 0 { rank(known.begin) } else { 0 };
        let last = match known.end {
            Some(end) if block >= end.block && count > 0 => rank(end),
            _ => count,
        };
        self.cursor = Cursor { first, last: last.max(first), open: true, ..self.cursor };
        if first < last {
            self.block.begin(key, block, count);
        }
        Some(())
    }
}

impl Segment {
    fn new(from: Nanos, curve: RateCurve, begin: BlockPosition) -> Self {
        let counts = PoissonTable::new(curve.max(), BLOCK);
        let moves = curve.as_constant().is_none();
        Self { from, curve, moves, counts, begin, end: None }
    }

    /// How long after the phase's start a place in a block lies; `None` beyond the end of the curve or of time.
    fn since_start(&self, block: u64, place: u64) -> Option<Nanos> {
        if self.moves {
            return self.curve.last_instant_within(self.ticks(block, place));
        }
        let ns = (u128::from(place) * BLOCK.0 as u128) >> 64;
        let block = i64::try_from(block).ok()?.checked_mul(BLOCK.0)?;
        block.checked_add(ns as i64).map(Nanos)
    }

    /// Half ticks of the curve that are collected at a place of its own time: at its highest rate all along.
    fn ticks(&self, block: u64, place: u64) -> u128 {
        let per_ns = 2 * u128::from(self.curve.max().count);
        let within = u128::from(place) * BLOCK.0 as u128;
        let ns = u128::from(block) * BLOCK.0 as u128 + (within >> 64);
        // A billionth of a nanosecond is enough: where the rate is low, time is stretched.
        let part = u128::from(within as u64 >> 32);
        per_ns.saturating_mul(ns).saturating_add((per_ns * part) >> 32)
    }

    /// Where an instant after the phase's start lies in the blocks.
    fn spot(&self, since: Nanos) -> BlockPosition {
        if !self.moves {
            return BlockPosition::after(since);
        }
        let ticks = self.curve.ticks_before(since);
        let per_block = 2 * u128::from(self.curve.max().count) * BLOCK.0 as u128;
        let block = (ticks / per_block) as u64;
        // The first place at which as many are collected: exactly those before it fall earlier.
        let (mut low, mut high) = (0_u128, 1_u128 << 64);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.ticks(block, middle as u64) < ticks { low = middle + 1 } else { high = middle }
        }
        BlockPosition { block, cut: low }
    }
}

impl BlockPosition {
    /// Where blocks are cut from time itself.
    fn after(since: Nanos) -> Self {
        let (block, ns) = (since.0.unsigned_abs() / BLOCK.0 as u64, since.0.unsigned_abs() % BLOCK.0 as u64);
        // ⌊place × block⌋ < ns exactly for places below ⌈ns / block⌉.
        Self { block, cut: (u128::from(ns) << 64).div_ceil(BLOCK.0 as u128) }
    }
}

/// The instant `length` after `start`, within the time there is.
fn instant_after(start: Nanos, length: Nanos) -> Option<Nanos> {
    start.0.checked_add(length.0).map(Nanos)
}
