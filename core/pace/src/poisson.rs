//! [`Poisson`]: arrivals at random, the same for everybody who knows the seed.

use wavetank_plan::{Nanos, Rate};

use crate::block::Block;
use crate::count_table::CountTable;
use crate::random::{Purpose, philox};

/// A Poisson process whose rate is constant in pieces.
///
/// Time is cut into blocks of 10 ms from the start. Each piece draws, for each block it touches, the count
/// and places of a whole block from a counter keyed (seed, phase, piece, block) and keeps the arrivals that
/// fall inside the piece: a restricted Poisson process is one, so any change at any instant is exact, and
/// what came before it stays as it was. Everybody draws every count (that is what numbers the arrivals),
/// but looks up only the places of his own.
#[derive(Clone, Debug)]
pub(crate) struct Poisson {
    seed: u64,
    phase: u16,
    start: Nanos,
    end: Nanos,
    /// In order of time, never empty. The first one begins at `start`.
    pieces: Vec<Piece>,
    cursor: Cursor,
    /// The last index asked for, and where it was found.
    asked: Option<(u64, Cursor)>,
    /// Where the index before that was found. Asking on means that it is past, so a change never reaches
    /// further back than this.
    settled: Cursor,
    block: Block,
    /// Count words of four blocks, and whose they are: one draw serves four.
    words: [u64; 4],
    words_of: Option<(usize, u64)>,
}

#[derive(Clone, Debug)]
struct Piece {
    from: Nanos,
    rate: Rate,
    counts: CountTable,
}

/// The part of a piece that lies in one block: arrivals number `base` to `base + (last − first)`, which are
/// the ordinals `first` to `last` of the block's draw.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    piece: usize,
    block: u64,
    base: u64,
    first: u64,
    last: u64,
    /// Whether `first`, `last` and the walk are set up.
    open: bool,
}

const BLOCK: Nanos = Nanos::from_millis(10);

impl Poisson {
    pub(crate) fn new(seed: u64, phase: u16, start: Nanos, end: Nanos, rate: Rate) -> Self {
        Self {
            seed,
            phase,
            start,
            end,
            pieces: vec![Piece::new(start, rate)],
            cursor: Cursor::default(),
            asked: None,
            settled: Cursor::default(),
            block: Block::empty(),
            words: [0; 4],
            words_of: None,
        }
    }

    /// When `index` falls due; asked in rising order, and again only after a change.
    pub(crate) fn at(&mut self, index: u64) -> Option<Nanos> {
        if let Some((asked, found)) = self.asked
            && asked < index
        {
            self.settled = found;
        }
        loop {
            if !self.cursor.open {
                self.open()?;
            }
            let Cursor { block, base, first, last, .. } = self.cursor;
            if index < base + (last - first) {
                self.asked = Some((index, self.cursor));
                let place = self.block.place(first + (index - base));
                let ns = (u128::from(place) * BLOCK.0 as u128) >> 64;
                return Some(self.block_start(block)?.after(Nanos(ns as i64)));
            }
            self.next_part();
        }
    }

    /// From `at` on the rate is `rate`, whatever was planned before.
    pub(crate) fn change(&mut self, at: Nanos, rate: Rate) {
        let keep = self.pieces.partition_point(|piece| piece.from < at);
        self.pieces.truncate(keep);
        let at = if keep == 0 { self.start } else { at };
        self.pieces.push(Piece::new(at, rate));
        // The count of the part that holds `at` has changed, so everything is opened again.
        self.cursor = Cursor { open: false, ..self.settled };
        self.words_of = None;
    }

    fn block_start(&self, block: u64) -> Option<Nanos> {
        let ns = i64::try_from(block).ok()?.checked_mul(BLOCK.0)?;
        self.start.0.checked_add(ns).map(Nanos)
    }

    /// The instant at which the cursor's part ends: the block's end or the next piece's begin.
    fn part_end(&self) -> Nanos {
        let block_end = self.block_start(self.cursor.block).map_or(Nanos::MAX, |start| start.after(BLOCK));
        self.pieces.get(self.cursor.piece + 1).map_or(block_end, |next| next.from.min(block_end))
    }

    fn next_part(&mut self) {
        let end = self.part_end();
        let cursor = &mut self.cursor;
        cursor.base += cursor.last - cursor.first;
        cursor.open = false;
        if self.pieces.get(cursor.piece + 1).is_some_and(|next| next.from <= end) {
            cursor.piece += 1;
            cursor.block = end.since(self.start) / BLOCK.0 as u64;
        } else {
            cursor.block += 1;
        }
    }

    /// Draw the count of the cursor's part; `None` when no more can come.
    fn open(&mut self) -> Option<()> {
        while self.pieces[self.cursor.piece].rate.count == 0 {
            let next = self.pieces.get(self.cursor.piece + 1)?;
            self.cursor.piece += 1;
            self.cursor.block = next.from.since(self.start) / BLOCK.0 as u64;
        }
        let Cursor { piece, block, .. } = self.cursor;
        let start = self.block_start(block)?;
        if start >= self.end {
            return None;
        }
        let key = self.key(piece);
        if self.words_of != Some((piece, block / 4)) {
            self.words = philox([block / 4, 0, 0, Purpose::Count as u64], key);
            self.words_of = Some((piece, block / 4));
        }
        let count = self.pieces[piece].counts.count(self.words[(block % 4) as usize]);
        let from = self.pieces[piece].from.since(start);
        let until = self.part_end().since(start);
        let rank = |ns: u64| match ns {
            0 => 0,
            ns if ns >= BLOCK.0 as u64 => count,
            // ⌊place × block⌋ < ns exactly for places below ⌈ns / block⌉.
            ns => Block::rank(key, block, count, (u128::from(ns) << 64).div_ceil(BLOCK.0 as u128)),
        };
        let (first, last) = if count == 0 { (0, 0) } else { (rank(from), rank(until)) };
        self.cursor = Cursor { first, last, open: true, ..self.cursor };
        if first < last {
            self.block.begin(key, block, count);
        }
        Some(())
    }

    fn key(&self, piece: usize) -> [u64; 2] {
        [self.seed, (piece as u64) << 16 | u64::from(self.phase)]
    }
}

impl Piece {
    fn new(from: Nanos, rate: Rate) -> Self {
        Self { from, rate, counts: CountTable::new(rate, BLOCK) }
    }
}
