//! [`Segments`]: straight pieces one after another, repeated up to a length.

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

use super::ShapeError;

/// Maximum number of straight pieces of one shape: 40 MB.
pub(crate) const PIECES_MAX: usize = 1 << 20;

/// A straight piece: its length and its values at both ends. Jumps occur between two pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// How long; positive.
    pub length: Nanos,
    /// The value at its start.
    pub begin: u64,
    /// The value at its end.
    pub end: u64,
}

/// See the module's description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segments {
    pieces: Vec<Segment>,
    /// Start of each piece within a turn, ns.
    from: Vec<u64>,
    /// Length of all pieces, ns.
    turn: u64,
    /// End of the shape, ns; the pieces are repeated or cut to fit.
    length: u64,
}

/// A piece and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentAt {
    /// Which turn of the pieces, from 0.
    pub(super) turn: u64,
    /// Which piece of it.
    pub(super) piece: usize,
    /// Start of the piece, ns after the shape's start.
    pub(super) from: u64,
}

impl Segments {
    pub(super) fn new(pieces: Vec<Segment>, length: Nanos) -> Result<Self, ShapeError> {
        if length <= Nanos::ZERO || pieces.is_empty() {
            return Err(ShapeError::ZeroLength);
        }
        if pieces.len() > PIECES_MAX {
            return Err(ShapeError::TooManyPieces);
        }
        let mut from = Vec::with_capacity(pieces.len());
        let mut turn = 0_u64;
        for piece in &pieces {
            if piece.length <= Nanos::ZERO {
                return Err(ShapeError::ZeroLength);
            }
            from.push(turn);
            turn += piece.length.0.unsigned_abs();
            if turn > i64::MAX as u64 {
                return Err(ShapeError::OutOfRange);
            }
        }
        Ok(Self { pieces, from, turn, length: length.0.unsigned_abs() })
    }

    pub(super) fn pieces(&self) -> &[Segment] {
        &self.pieces
    }

    /// In nanoseconds.
    pub(super) const fn length(&self) -> u64 {
        self.length
    }

    /// Returns the position of piece number `piece` of turn number `turn`; `None` at or beyond the
    /// shape's end.
    pub(super) fn place(&self, turn: u64, piece: usize) -> Option<SegmentAt> {
        let from = turn.checked_mul(self.turn)?.checked_add(self.from[piece])?;
        (from < self.length).then_some(SegmentAt { turn, piece, from })
    }

    /// Returns the piece that contains the instant `at` ns after the start, also beyond the end.
    pub(super) fn at(&self, at: u64) -> SegmentAt {
        let (turn, within) = (at / self.turn, at % self.turn);
        let piece = self.from.partition_point(|&from| from <= within) - 1;
        SegmentAt { turn, piece, from: at - within + self.from[piece] }
    }

    /// Returns the pieces before `at` ns, with the last one cut there. A value within a ramp is
    /// rounded down.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) fn before(&self, at: u64) -> Result<Vec<Segment>, ShapeError> {
        let (mut pieces, mut from) = (Vec::new(), 0);
        while from < at {
            // One more follows.
            if pieces.len() + 1 >= PIECES_MAX {
                return Err(ShapeError::TooManyPieces);
            }
            // It starts at `from`, since only the last one is cut.
            let piece = self.pieces[self.at(from).piece];
            let length = piece.length.0.unsigned_abs().min(at - from);
            pieces.push(Segment {
                length: Nanos(length as i64),
                begin: piece.begin,
                end: between(&piece, length, 1),
            });
            from += length;
        }
        Ok(pieces)
    }

    /// The highest value anywhere.
    pub(super) fn max(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.begin.max(piece.end)).max().unwrap_or(0)
    }

    /// The value all along, if there is one.
    pub(super) fn constant(&self) -> Option<u64> {
        let first = self.pieces[0].begin;
        self.pieces.iter().all(|piece| (piece.begin, piece.end) == (first, first)).then_some(first)
    }
}

/// Returns the value of a piece `at` ns after its start, times `grid`, rounded down.
pub(super) fn between(piece: &Segment, at: u64, grid: u64) -> u64 {
    let (begin, end) = (i128::from(piece.begin) * i128::from(grid), i128::from(piece.end) * i128::from(grid));
    let length = i128::from(piece.length.0);
    // |end − begin| < 2^62 and at < 2^63.
    let value = begin + (end - begin) * i128::from(at) / length;
    u64::try_from(value).unwrap_or(0)
}
