//! [`PopulationCurve`]: how many users or held connections are wanted over time.

use super::builders;
use super::segments::{Segment, Segments};
use super::{ShapeError, wave};
use crate::{Nanos, Rate};

/// How many are wanted, as straight pieces and jumps, from the phase's start on.
///
/// Number `i` (from 0) starts when an even climb comes to `i`, so the first one of `0 to N` starts at once; they leave
/// in the opposite order, the last one first. In a piece of `L` ns between `a` and `b` move number `k` of `|b − a|`
/// falls `⌊k L / |b − a|⌋` ns after its begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PopulationCurve {
    line: Segments,
}

/// A piece of [`PopulationCurve`] and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelPiece {
    /// Where it begins, after the levels' begin.
    pub from: Nanos,
    /// How long it is; it may reach beyond the levels' end.
    pub length: Nanos,
    /// Wanted as it begins, before the first move.
    pub begin: u64,
    /// Wanted at its end.
    pub end: u64,
}

impl LevelPiece {
    /// How long after the piece's begin number `user` starts, or leaves in a piece that falls.
    pub fn moves_at(&self, user: u64) -> Nanos {
        let rising = self.begin <= self.end;
        let order = if rising { user - self.begin } else { self.begin - 1 - user };
        let moves = u128::from(self.begin.abs_diff(self.end)).max(1);
        Nanos((u128::from(order) * u128::from(self.length.0.unsigned_abs()) / moves) as i64)
    }

    /// Wanted `at` after the piece's begin, what moves at that very instant included.
    fn at(&self, at: Nanos) -> u64 {
        let (difference, length) = (self.begin.abs_diff(self.end), self.length.0.unsigned_abs());
        let moved = (u128::from(at.0.unsigned_abs()) + 1) * u128::from(difference);
        let moved = moved.div_ceil(u128::from(length)).min(u128::from(difference)) as u64;
        if self.begin <= self.end { self.begin + moved } else { self.begin - moved }
    }
}

impl PopulationCurve {
    /// Pieces, repeated until `length`.
    ///
    /// # Errors
    /// Zero lengths, too many pieces, lengths that do not fit.
    pub fn new(pieces: Vec<Segment>, length: Nanos) -> Result<Self, ShapeError> {
        Ok(Self { line: Segments::new(pieces, length)? })
    }

    /// As many all along; without a length until the end of time.
    ///
    /// # Panics
    /// If `length` is not positive.
    pub fn constant(count: u64, length: Option<Nanos>) -> Self {
        let length = length.unwrap_or(Nanos::MAX);
        Self::new(builders::flat(count, length), length).expect("a positive length was asked for")
    }

    /// `A to B`: evenly from one to the other. For `at: RATE` see [`climb_length`](super::climb_length).
    pub fn ramp(begin: u64, end: u64, length: Nanos) -> Result<Self, ShapeError> {
        Self::new(builders::ramp(begin, end, length), length)
    }

    /// `A to B, step: S, every: D`, and with `ramp` the first part of each stair leads up to it. Each stair is a step
    /// from what came before it, so `0 to 300` in steps of 100 is 100, 200, 300.
    pub fn stairs(begin: u64, end: u64, step: u64, every: Nanos, ramp: Nanos) -> Result<Self, ShapeError> {
        let pieces = builders::stairs(begin, end, step, every, ramp)?;
        Self::new(pieces, builders::stairs_length(begin, end, step, every)?)
    }

    /// `A to B, wave: D`: begins at A, is B half a period later and A again after a period. A cosine in 64 straight
    /// pieces between whole numbers.
    pub fn wave(begin: u64, end: u64, period: Nanos, length: Nanos) -> Result<Self, ShapeError> {
        let (begin, end) = (i128::from(begin), i128::from(end));
        let value = |k| {
            let fine = (begin + end) * wave::SCALE - (end - begin) * wave::cosine(k);
            ((fine + wave::SCALE) / (wave::SCALE * 2)) as u64
        };
        Self::new(builders::period(period, value)?, length)
    }

    /// For `at: RATE` of users or connections: [`ramp`](Self::ramp) as long as that takes.
    pub fn climb(begin: u64, end: u64, at: Rate) -> Result<Self, ShapeError> {
        Self::ramp(begin, end, builders::climb_length(begin, end, at).ok_or(ShapeError::OutOfRange)?)
    }

    /// The straight pieces of one turn; they repeat until [`length`](Self::length).
    pub fn pieces(&self) -> &[Segment] {
        self.line.pieces()
    }

    /// How long the shape is; [`Nanos::MAX`] if nothing but a count ends it.
    pub const fn length(&self) -> Nanos {
        Nanos(self.line.length() as i64)
    }

    /// The number, if it is the same all along.
    pub fn as_constant(&self) -> Option<u64> {
        self.line.constant()
    }

    /// The most that are ever wanted.
    pub fn max(&self) -> u64 {
        self.line.max()
    }

    /// How many are wanted at an instant after the begin, those who start at it included and those who leave at it
    /// not; 0 outside of the shape.
    pub fn at(&self, at: Nanos) -> u64 {
        if at < Nanos::ZERO || at >= self.length() {
            return 0;
        }
        let place = self.line.at(at.0.unsigned_abs());
        let piece = self.piece(place.turn, place.piece).expect("it begins before an instant within");
        piece.at(at - piece.from)
    }

    /// Number `piece` of turn number `turn`; `None` beyond the end.
    pub fn piece(&self, turn: u64, piece: usize) -> Option<LevelPiece> {
        let place = self.line.place(turn, piece)?;
        let Segment { length, begin, end } = self.line.pieces()[piece];
        Some(LevelPiece { from: Nanos(place.from as i64), length, begin, end })
    }
}
