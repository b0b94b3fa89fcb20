//! [`ShapeError`]: why a shape cannot be.

use std::fmt;

/// Why a shape cannot be built. The caller that parsed it from a file adds the position and a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// A shape, a stair, a wave or a period lasts no time at all.
    ZeroLength,
    /// A step of nothing never arrives.
    ZeroStep,
    /// A stair's ramp is longer than the stair.
    RampTooLong,
    /// A spike lasts as long as its period, or longer.
    SpikeTooLong,
    /// More than [`PIECES_MAX`](super::segments::PIECES_MAX) straight pieces.
    TooManyPieces,
    /// It ends after the end of time (292 years), or counts more than 64 bits hold.
    OutOfRange,
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroLength => "its length is zero",
            Self::ZeroStep => "a step of zero never reaches the end",
            Self::RampTooLong => "a stair's ramp is longer than the stair",
            Self::SpikeTooLong => "a spike must be shorter than the time from one to the next",
            Self::TooManyPieces => "it has more than a million straight pieces",
            Self::OutOfRange => "its length or count does not fit 64 bits",
        })
    }
}
