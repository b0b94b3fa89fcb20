//! [`PoissonArrivals`]: random arrivals that every thread and agent derives from the seed alone.

use wavetank_plan::RateCurve;
use wavetank_units::{Nanos, Rate};

use crate::poisson_table::PoissonTable;
use crate::random::{StreamId, philox};
use crate::sorted_uniform::SortedUniform;

/// A Poisson process under a piecewise linear rate that may change at any instant.
///
/// Time is cut into blocks of 10 ms from the start. Each segment draws the count and the positions
/// of a whole block for every block it touches, from a counter keyed (seed, phase, segment, block).
/// It keeps the arrivals that fall inside the segment. A restricted Poisson process is a Poisson
/// process, so a change at any instant is exact, and earlier arrivals keep their positions. Every
/// thread draws every count, because the counts number the arrivals. It looks up only the positions
/// of its own arrivals.
///
/// Under a changing rate, blocks are cut from a transformed time, which passes in proportion to the
/// arrivals. A block lasts 10 ms at the curve's highest rate and longer below it. In transformed
/// time the process has one rate, and each arrival is put where the curve's integral reaches its
/// position (the time change of point processes: F. Papangelou, 1972).
#[derive(Clone, Debug)]
pub(crate) struct PoissonArrivals {
    seed: u64,
    phase: u16,
    start: Nanos,
    end: Nanos,
    /// In order of time, never empty. The first one begins at `start`; all others are constant.
    segments: Vec<Segment>,
    cursor: Cursor,
    /// The last requested index, and where it was found.
    asked: Option<(u64, Cursor)>,
    /// The position of the index before that. A request for a later index means that this one has
    /// passed, so a change never reaches further back.
    settled: Cursor,
    block: SortedUniform,
    /// Random values for the counts of four blocks, and the key they belong to. One draw serves
    /// four blocks.
    words: [u64; 4],
    words_of: Option<(usize, u64)>,
}

#[derive(Clone, Debug)]
struct Segment {
    from: Nanos,
    curve: RateCurve,
    /// Whether its blocks are cut from transformed time.
    moves: bool,
    counts: PoissonTable,
    begin: BlockPosition,
    /// The position in this segment's blocks where the next segment begins.
    end: Option<BlockPosition>,
}

/// A position in the blocks. In its block, places below `cut` (of 2^64) come before it.
#[derive(Clone, Copy, Debug, Default)]
struct BlockPosition {
    block: u64,
    cut: u128,
}

/// The part of a segment that falls into one block. It holds the arrivals `base` to `base + (last −
/// first)`, which are the ordinals `first` to `last` of the block's draw.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    segment: usize,
    block: u64,
    base: u64,
    first: u64,
    last: u64,
    /// Whether `first`, `last` and the walk are initialized.
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

    /// Returns when `index` is due. Indices must be requested in rising order, and again only after
    /// a change.
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

    /// Sets the rate to `rate` from `at` on, replacing what was planned after it.
    pub(crate) fn change(&mut self, at: Nanos, rate: Rate) {
        let keep = self.segments.partition_point(|segment| segment.from < at);
        self.segments.truncate(keep);
        let at = if keep == 0 { self.start } else { at };
        let since = Nanos(at.since(self.start) as i64);
        if let Some(last) = self.segments.last_mut() {
            last.end = Some(last.spot(since));
        }
        self.segments.push(Segment::new(at, RateCurve::constant(rate, None), BlockPosition::after(since)));
        // The count of the part that contains `at` has changed, so the part is opened again.
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

    /// Draws the count of the cursor's part; `None` if no more arrivals can follow.
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

    /// Returns the time from the phase's start to a place in a block; `None` beyond the end of the
    /// curve or of time.
    fn since_start(&self, block: u64, place: u64) -> Option<Nanos> {
        if self.moves {
            return self.curve.last_instant_within(self.ticks(block, place));
        }
        let ns = (u128::from(place) * BLOCK.0 as u128) >> 64;
        let block = i64::try_from(block).ok()?.checked_mul(BLOCK.0)?;
        block.checked_add(ns as i64).map(Nanos)
    }

    /// Returns the half ticks of the curve up to a place of transformed time, which runs at the
    /// highest rate throughout.
    fn ticks(&self, block: u64, place: u64) -> u128 {
        let per_ns = 2 * u128::from(self.curve.max().count);
        let within = u128::from(place) * BLOCK.0 as u128;
        let ns = u128::from(block) * BLOCK.0 as u128 + (within >> 64);
        // A billionth of a nanosecond is enough: where the rate is low, time is stretched.
        let part = u128::from(within as u64 >> 32);
        per_ns.saturating_mul(ns).saturating_add((per_ns * part) >> 32)
    }

    /// Returns the position in the blocks of an instant after the phase's start.
    fn spot(&self, since: Nanos) -> BlockPosition {
        if !self.moves {
            return BlockPosition::after(since);
        }
        let ticks = self.curve.ticks_before(since);
        let per_block = 2 * u128::from(self.curve.max().count) * BLOCK.0 as u128;
        let block = (ticks / per_block) as u64;
        // The first place that reaches this integral: exactly the places before it are due earlier.
        let (mut low, mut high) = (0_u128, 1_u128 << 64);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.ticks(block, middle as u64) < ticks { low = middle + 1 } else { high = middle }
        }
        BlockPosition { block, cut: low }
    }
}

impl BlockPosition {
    /// The position if blocks are cut from real time.
    fn after(since: Nanos) -> Self {
        let (block, ns) = (since.0.unsigned_abs() / BLOCK.0 as u64, since.0.unsigned_abs() % BLOCK.0 as u64);
        // ⌊place × block⌋ < ns exactly for places below ⌈ns / block⌉.
        Self { block, cut: (u128::from(ns) << 64).div_ceil(BLOCK.0 as u128) }
    }
}

/// Returns the instant `length` after `start`, if it is representable.
fn instant_after(start: Nanos, length: Nanos) -> Option<Nanos> {
    start.0.checked_add(length.0).map(Nanos)
}
