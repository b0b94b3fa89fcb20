//! [`RateCurve`]: a rate over time.

use serde::{Deserialize, Serialize};
use wavetank_units::{Nanos, Rate};

use super::builders::{self, gcd};
use super::ramp::Ramp;
use super::segments::{PIECES_MAX, Segment, SegmentAt, Segments, between};
use super::{ShapeError, wave};

/// A rate over time as straight pieces, from the phase's start on. Its integral, and the instants
/// at which the integral reaches a number, are exact. A half tick is `1 / (2 per)` of an arrival.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RateCurveParts", into = "RateCurveParts")]
pub struct RateCurve {
    /// The time over which the pieces' counts are given, ns; positive.
    per: u64,
    line: Segments,
    /// Half ticks before each piece of a turn.
    before: Vec<u128>,
    /// Half ticks of one turn.
    turn_ticks: u128,
}

/// What defines a curve; [`RateCurve::new`] computes the rest.
#[derive(Serialize, Deserialize)]
struct RateCurveParts {
    per: Nanos,
    pieces: Vec<Segment>,
    length: Nanos,
}

impl From<RateCurve> for RateCurveParts {
    fn from(curve: RateCurve) -> Self {
        Self { per: curve.per(), pieces: curve.pieces().to_vec(), length: curve.length() }
    }
}

impl TryFrom<RateCurveParts> for RateCurve {
    type Error = ShapeError;

    fn try_from(RateCurveParts { per, pieces, length }: RateCurveParts) -> Result<Self, ShapeError> {
        Self::new(per, pieces, length)
    }
}

/// A piece of a [`RateCurve`] and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurvePiece {
    /// Start of the piece, after the curve's start.
    pub from: Nanos,
    /// How long it is.
    pub length: Nanos,
    /// Arrivals per [`RateCurve::per`] at its start.
    pub begin: u64,
    /// And at its end.
    pub end: u64,
    /// Half ticks collected before it.
    pub before: u128,
}

impl CurvePiece {
    /// Half ticks of the whole piece.
    pub fn ticks(&self) -> u128 {
        self.ramp().total()
    }

    /// Returns the time after the piece's start at which `ticks` half ticks are collected, rounded
    /// down to the nanosecond. `ticks` is below [`ticks`](Self::ticks).
    pub fn inverse(&self, ticks: u128) -> Nanos {
        Nanos(self.ramp().inverse(ticks) as i64)
    }

    fn ramp(&self) -> Ramp {
        Ramp { length: self.length.0.unsigned_abs(), begin: self.begin, end: self.end }
    }
}

/// Rates need a common denominator. Above this limit they are rounded.
const PER_MAX: u128 = 1 << 61;
/// A rate between knots is rounded to this part of the curve's grid.
const CUT_GRID: u64 = 1 << 16;

impl RateCurve {
    /// Creates a curve from pieces in arrivals per `per`, repeated until `length`. More than one
    /// arrival per nanosecond counts as one.
    ///
    /// # Errors
    /// Zero lengths, too many pieces, lengths that do not fit.
    pub fn new(per: Nanos, pieces: Vec<Segment>, length: Nanos) -> Result<Self, ShapeError> {
        let (mut per, mut pieces) = (per.0.max(1).unsigned_abs(), pieces);
        for piece in &mut pieces {
            (piece.begin, piece.end) = (piece.begin.min(per), piece.end.min(per));
        }
        let ramp = |piece: &Segment| Ramp {
            length: piece.length.0.unsigned_abs(),
            begin: piece.begin,
            end: piece.end,
        };
        if !pieces.iter().all(|piece| ramp(piece).fits()) {
            let common = pieces.iter().fold(u128::from(per), |common, piece| {
                gcd(gcd(common, u128::from(piece.begin)), u128::from(piece.end))
            });
            let divide = |pieces: &mut [Segment], by: u64| {
                for piece in pieces {
                    (piece.begin, piece.end) = (piece.begin / by, piece.end / by);
                }
            };
            divide(&mut pieces, common as u64);
            per /= common as u64;
            // A ramp of weeks between strange units: its ends are rounded until the products fit.
            while per > 1 && !pieces.iter().all(|piece| ramp(piece).fits()) {
                divide(&mut pieces, 2);
                per = per.div_ceil(2);
            }
        }
        let line = Segments::new(pieces, length)?;
        let mut turn_ticks = 0_u128;
        let before = line.pieces().iter().map(|piece| {
            let before = turn_ticks;
            turn_ticks += ramp(piece).total();
            before
        });
        let before = before.collect();
        Ok(Self { per, line, before, turn_ticks })
    }

    /// `rate` all along; without a length until the end of time.
    ///
    /// # Panics
    /// If `length` is not positive.
    pub fn constant(rate: Rate, length: Option<Nanos>) -> Self {
        let length = length.unwrap_or(Nanos::MAX);
        Self::new(rate.per, builders::flat(rate.count, length), length)
            .expect("a positive length was asked for")
    }

    /// `A to B`: evenly from one to the other.
    pub fn ramp(begin: Rate, end: Rate, length: Nanos) -> Result<Self, ShapeError> {
        let (per, [begin, end]) = common([begin, end]);
        Self::new(per, builders::ramp(begin, end, length), length)
    }

    /// `A to B, step: S, every: D`; with `ramp` the first part of each stair leads up to it. Each
    /// stair is one step from the value before, so `0/s to 300/s` in steps of 100/s is 100, 200,
    /// 300.
    pub fn stairs(begin: Rate, end: Rate, step: Rate, every: Nanos, ramp: Nanos) -> Result<Self, ShapeError> {
        let (per, [begin, end, step]) = common([begin, end, step]);
        let pieces = builders::stairs(begin, end, step, every, ramp)?;
        Self::new(per, pieces, builders::stairs_length(begin, end, step, every)?)
    }

    /// `A to B, wave: D`: starts at A, is B half a period later, and A again after a period. The
    /// wave is a cosine in 64 straight pieces, with knots rounded to 1/65,536 of the swing.
    pub fn wave(begin: Rate, end: Rate, period: Nanos, length: Nanos) -> Result<Self, ShapeError> {
        let (per, [begin, end]) = common([begin, end]);
        let fine = i128::from(per.0).checked_mul(wave::SCALE * 2).ok_or(ShapeError::OutOfRange)?;
        let per = i64::try_from(fine).map_err(|_| ShapeError::OutOfRange)?;
        let (begin, end) = (i128::from(begin), i128::from(end));
        let value = |k| {
            u64::try_from((begin + end) * wave::SCALE - (end - begin) * wave::cosine(k)).unwrap_or(u64::MAX)
        };
        Self::new(Nanos(per), builders::period(period, value)?, length)
    }

    /// Rates that apply from their instant until the next one; the last one applies until `length`,
    /// and before the first one the rate is zero. Instants rise from 0.
    pub fn steps(rows: &[(Nanos, Rate)], length: Nanos) -> Result<Self, ShapeError> {
        let per = rows.iter().fold(1, |per, (_, rate)| common_per(per, rate.per));
        let ends = rows.iter().skip(1).map(|row| row.0).chain([length]);
        let leading = rows.first().map(|row| Segment { length: row.0, begin: 0, end: 0 });
        let pieces = rows.iter().zip(ends).map(|(&(from, rate), end)| {
            let count = at_per(rate, per);
            Segment { length: end - from, begin: count, end: count }
        });
        // The next row of the same instant has the last word.
        let pieces = leading.into_iter().chain(pieces).filter(|piece| piece.length != Nanos::ZERO).collect();
        Self::new(Nanos(per as i64), pieces, length)
    }

    /// `spike: R for D every E` on top of this curve: in each E the last D runs at R instead.
    pub fn with_spikes(&self, rate: Rate, duration: Nanos, every: Nanos) -> Result<Self, ShapeError> {
        if duration <= Nanos::ZERO || every <= Nanos::ZERO {
            return Err(ShapeError::ZeroLength);
        }
        if duration >= every {
            return Err(ShapeError::SpikeTooLong);
        }
        if let Some(base) = self.as_constant() {
            let (per, [base, spike]) = common([base, rate]);
            let pieces = [builders::flat(base, every - duration), builders::flat(spike, duration)].concat();
            return Self::new(per, pieces, self.length());
        }
        // A base that moves is cut at each spike, on a finer grid.
        let grid = self.per.checked_mul(CUT_GRID).filter(|&grid| u128::from(grid) <= PER_MAX);
        let grid = grid.ok_or(ShapeError::OutOfRange)?;
        let (every, duration) = (every.0.unsigned_abs(), duration.0.unsigned_abs());
        let spike = at_per(rate, grid);
        let (mut at, mut pieces) = (0, Vec::new());
        while at < self.line.length() {
            if pieces.len() > PIECES_MAX {
                return Err(ShapeError::TooManyPieces);
            }
            let spiking = at % every >= every - duration;
            let turn = at - at % every;
            let next = if spiking { turn + every } else { turn + (every - duration) };
            let next = next.min(self.line.length());
            if spiking {
                pieces.extend(builders::flat(spike, Nanos((next - at) as i64)));
                at = next;
                continue;
            }
            let place = self.line.at(at);
            let piece = self.line.pieces()[place.piece];
            let next = next.min(place.from.saturating_add(piece.length.0.unsigned_abs()));
            let value = |at: u64| between(&piece, at - place.from, CUT_GRID);
            pieces.push(Segment { length: Nanos((next - at) as i64), begin: value(at), end: value(next) });
            at = next;
        }
        Self::new(Nanos(grid as i64), pieces, self.length())
    }

    /// Returns this curve up to `at`, and `rate` from there to its end. The end of a ramp that is
    /// cut is rounded down to a whole count.
    ///
    /// # Errors
    /// If the curve has too many pieces before `at`.
    pub fn changed_at(&self, at: Nanos, rate: Rate) -> Result<Self, ShapeError> {
        let at = at.0.clamp(0, self.length().0).unsigned_abs();
        let per = common_per(self.per, rate.per);
        let scaled = |count| at_per(Rate { count, per: self.per() }, per);
        let mut pieces = self.line.before(at)?;
        for piece in &mut pieces {
            (piece.begin, piece.end) = (scaled(piece.begin), scaled(piece.end));
        }
        pieces.extend(builders::rest(at_per(rate, per), self.line.length() - at));
        Self::new(Nanos(per as i64), pieces, self.length())
    }

    /// Returns the time over which the pieces' counts are given.
    pub const fn per(&self) -> Nanos {
        Nanos(self.per as i64)
    }

    /// The straight pieces of one turn; they repeat until [`length`](Self::length).
    pub fn pieces(&self) -> &[Segment] {
        self.line.pieces()
    }

    /// How long the curve is; [`Nanos::MAX`] if nothing but a count ends it.
    pub const fn length(&self) -> Nanos {
        Nanos(self.line.length() as i64)
    }

    /// The rate, if it is the same all along.
    pub fn as_constant(&self) -> Option<Rate> {
        self.line.constant().map(|count| Rate { count, per: self.per() })
    }

    /// The highest rate.
    pub fn max(&self) -> Rate {
        Rate { count: self.line.max(), per: self.per() }
    }

    /// Returns the arrivals per second at an instant after the curve's start, for display; 0
    /// outside of the curve.
    pub fn per_second_at(&self, at: Nanos) -> f64 {
        if at < Nanos::ZERO || at >= self.length() {
            return 0.0;
        }
        let place = self.line.at(at.0.unsigned_abs());
        let piece = &self.line.pieces()[place.piece];
        let part = (at.0.unsigned_abs() - place.from) as f64 / piece.length.0 as f64;
        let count = piece.begin as f64 + (piece.end as f64 - piece.begin as f64) * part;
        count * 1e9 / self.per as f64
    }

    /// Half ticks collected in the first `at` of the curve, rounded up.
    pub fn ticks_before(&self, at: Nanos) -> u128 {
        let at = at.0.clamp(0, self.length().0).unsigned_abs();
        let place = self.line.at(at);
        let ramp = self.piece(place).ramp();
        let (ticks, more) = ramp.after(at - place.from);
        self.before_place(place) + ticks + u128::from(more)
    }

    /// Returns the number of even arrivals in the first `at` of the curve. It is exact, and also
    /// the mean of a Poisson process.
    pub fn arrivals_before(&self, at: Nanos) -> u64 {
        let arrivals = self.ticks_before(at).div_ceil(2 * u128::from(self.per));
        u64::try_from(arrivals).unwrap_or(u64::MAX)
    }

    /// How many even arrivals there are.
    pub fn total(&self) -> u64 {
        self.arrivals_before(self.length())
    }

    /// Returns the instant of even arrival number `index` (from 0), if the curve reaches it.
    pub fn instant_at(&self, index: u64) -> Option<Nanos> {
        self.last_instant_within(u128::from(index).checked_mul(2 * u128::from(self.per))?)
    }

    /// Returns the last nanosecond at which the integral is at most `ticks` half ticks; `None` if
    /// the curve never exceeds them.
    #[inline]
    pub fn last_instant_within(&self, ticks: u128) -> Option<Nanos> {
        let piece = self.piece_reaching(ticks)?;
        let at = piece.from.after(piece.inverse(ticks - piece.before));
        (at < self.length()).then_some(at)
    }

    /// The piece in which `ticks` half ticks are exceeded.
    #[inline]
    pub fn piece_reaching(&self, ticks: u128) -> Option<CurvePiece> {
        let (turn, within) = if ticks < self.turn_ticks {
            (0, ticks)
        } else {
            (ticks.checked_div(self.turn_ticks)?, ticks % self.turn_ticks)
        };
        // Of pieces that start at the same number, all except the last are empty.
        let piece = self.before.partition_point(|&before| before <= within) - 1;
        self.line.place(u64::try_from(turn).ok()?, piece).map(|place| self.piece(place))
    }

    fn piece(&self, place: SegmentAt) -> CurvePiece {
        let Segment { length, begin, end } = self.line.pieces()[place.piece];
        CurvePiece { from: Nanos(place.from as i64), length, begin, end, before: self.before_place(place) }
    }

    fn before_place(&self, place: SegmentAt) -> u128 {
        u128::from(place.turn) * self.turn_ticks + self.before[place.piece]
    }
}

/// The rates over one common length of time, exact where that fits.
fn common<const N: usize>(rates: [Rate; N]) -> (Nanos, [u64; N]) {
    let per = rates.iter().fold(1, |per, rate| common_per(per, rate.per));
    (Nanos(per as i64), rates.map(|rate| at_per(rate, per)))
}

/// The least common multiple, or of lengths too strange for one, the longer.
fn common_per(per: u64, other: Nanos) -> u64 {
    let other = other.0.max(1).unsigned_abs();
    let (a, b) = (u128::from(per), u128::from(other));
    let multiple = a / gcd(a, b) * b;
    if multiple <= PER_MAX { multiple as u64 } else { per.max(other) }
}

/// How many of `rate` in `per`, rounded down.
fn at_per(rate: Rate, per: u64) -> u64 {
    let count = u128::from(rate.count) * u128::from(per) / u128::from(rate.per.0.max(1).unsigned_abs());
    u64::try_from(count).unwrap_or(u64::MAX)
}
