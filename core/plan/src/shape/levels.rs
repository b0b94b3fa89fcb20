//! [`PopulationCurve`]: the target number of users or held connections over time.

use serde::{Deserialize, Serialize};
use wavetank_units::{Nanos, Rate};

use super::builders;
use super::segments::{Segment, Segments};
use super::{ShapeError, wave};

/// The target number of users or connections, as straight pieces and jumps, from the phase's start
/// on.
///
/// Number `i` (from 0) starts when an even ramp reaches `i`, so the first one of `0 to N` starts
/// immediately. They leave in the opposite order, the last one first. In a piece of `L` ns between
/// `a` and `b`, move number `k` of `|b − a|` happens `⌊k L / |b − a|⌋` ns after its start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "PopulationCurveParts", into = "PopulationCurveParts")]
pub struct PopulationCurve {
    line: Segments,
}

/// What defines a curve; [`PopulationCurve::new`] computes the rest.
#[derive(Serialize, Deserialize)]
struct PopulationCurveParts {
    pieces: Vec<Segment>,
    length: Nanos,
}

impl From<PopulationCurve> for PopulationCurveParts {
    fn from(curve: PopulationCurve) -> Self {
        Self { pieces: curve.pieces().to_vec(), length: curve.length() }
    }
}

impl TryFrom<PopulationCurveParts> for PopulationCurve {
    type Error = ShapeError;

    fn try_from(parts: PopulationCurveParts) -> Result<Self, ShapeError> {
        Self::new(parts.pieces, parts.length)
    }
}

/// A piece of [`PopulationCurve`] and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelPiece {
    /// Start of the piece, after the curve's start.
    pub from: Nanos,
    /// Length of the piece; it may exceed the curve's end.
    pub length: Nanos,
    /// Target number at its start, before the first move.
    pub begin: u64,
    /// Wanted at its end.
    pub end: u64,
}

impl LevelPiece {
    /// Returns the time after the piece's start at which number `user` starts, or leaves in a
    /// falling piece.
    pub fn moves_at(&self, user: u64) -> Nanos {
        let rising = self.begin <= self.end;
        let order = if rising { user - self.begin } else { self.begin - 1 - user };
        let moves = u128::from(self.begin.abs_diff(self.end)).max(1);
        Nanos((u128::from(order) * u128::from(self.length.0.unsigned_abs()) / moves) as i64)
    }

    /// Returns the target number `at` after the piece's start, including moves at that very
    /// instant.
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

    /// Creates a constant curve; without a length it never ends.
    ///
    /// # Panics
    /// If `length` is not positive.
    pub fn constant(count: u64, length: Option<Nanos>) -> Self {
        let length = length.unwrap_or(Nanos::MAX);
        Self::new(builders::flat(count, length), length).expect("a positive length was asked for")
    }

    /// `A to B`: evenly from one to the other. For `at: RATE` see
    /// [`climb_length`](super::climb_length).
    pub fn ramp(begin: u64, end: u64, length: Nanos) -> Result<Self, ShapeError> {
        Self::new(builders::ramp(begin, end, length), length)
    }

    /// `A to B, step: S, every: D`; with `ramp` the first part of each stair leads up to it. Each
    /// stair is one step from the value before, so `0 to 300` in steps of 100 is 100, 200, 300.
    pub fn stairs(begin: u64, end: u64, step: u64, every: Nanos, ramp: Nanos) -> Result<Self, ShapeError> {
        let pieces = builders::stairs(begin, end, step, every, ramp)?;
        Self::new(pieces, builders::stairs_length(begin, end, step, every)?)
    }

    /// `A to B, wave: D`: starts at A, is B half a period later, and A again after a period. The
    /// wave is a cosine in 64 straight pieces between whole numbers.
    pub fn wave(begin: u64, end: u64, period: Nanos, length: Nanos) -> Result<Self, ShapeError> {
        let (begin, end) = (i128::from(begin), i128::from(end));
        let value = |k| {
            let fine = (begin + end) * wave::SCALE - (end - begin) * wave::cosine(k);
            ((fine + wave::SCALE) / (wave::SCALE * 2)) as u64
        };
        Self::new(builders::period(period, value)?, length)
    }

    /// For `at: RATE` of users or connections: a [`ramp`](Self::ramp) of the required length.
    pub fn climb(begin: u64, end: u64, at: Rate) -> Result<Self, ShapeError> {
        Self::ramp(begin, end, builders::climb_length(begin, end, at).ok_or(ShapeError::OutOfRange)?)
    }

    /// Returns this curve up to `at`, and `count` from there to its end. The end of a ramp that is
    /// cut is rounded down.
    ///
    /// # Errors
    /// If the curve has too many pieces before `at`.
    pub fn changed_at(&self, at: Nanos, count: u64) -> Result<Self, ShapeError> {
        let at = at.0.clamp(0, self.length().0).unsigned_abs();
        let mut pieces = self.line.before(at)?;
        pieces.extend(builders::rest(count, self.line.length() - at));
        Self::new(pieces, self.length())
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

    /// Returns the highest target number.
    pub fn max(&self) -> u64 {
        self.line.max()
    }

    /// Returns the target number at an instant after the start; 0 outside of the shape. Users that
    /// start at the instant are counted, users that leave at it are not.
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
