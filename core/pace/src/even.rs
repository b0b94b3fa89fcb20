//! [`EvenArrivals`]: puts arrival `i` where the integral of the rate reaches `i`, in integer
//! arithmetic.

use wavetank_plan::RateCurve;
use wavetank_plan::shape::CurvePiece;
use wavetank_units::{Nanos, Rate};

use crate::share::greatest_common_divisor;

/// Evenly spaced arrivals under a piecewise linear rate.
///
/// The instant is exact, rounded down to the nanosecond. An arrival therefore never leaves its
/// half-open piece: `R/s` for `T` gives ⌈R × T⌉ arrivals.
///
/// On a constant piece, each arrival follows from the previous one by adding a stride. On a ramp,
/// each arrival needs its own square root.
#[derive(Clone, Debug)]
pub(crate) struct EvenArrivals {
    /// In order of time; never empty. `base` rises with them. All but the first are constant and
    /// result from rate changes.
    segments: Vec<Segment>,
    cursor: Cursor,
}

/// One curve, valid until the next segment.
#[derive(Clone, Debug)]
struct Segment {
    from: Nanos,
    curve: RateCurve,
    base: Integral,
}

/// A stretch with one constant rate.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: Nanos,
    /// In lowest terms. A count of 0 means no arrivals.
    count: u64,
    per: u64,
    base: Integral,
}

/// The integral of the rate at an instant: `whole + part / of`, `part < of <= OF_MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Integral {
    whole: u64,
    part: u64,
    of: u64,
}

/// The position of the last requested index: `from + ns + rest / (count × of)` of its piece. Holds
/// the two strides used last as well, so that the steady state needs no division.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    piece: Piece,
    index: u64,
    ns: u64,
    rest: u128,
    unit: u128,
    /// Indices from here on belong to the next piece. On a ramp this is the next index.
    index_end: u64,
    strides: [Stride; 2],
}

/// An advance by `indices` takes `ns + rest / unit` nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Stride {
    indices: u64,
    ns: u64,
    rest: u128,
}

impl EvenArrivals {
    pub(crate) fn new(start: Nanos, rate: &RateCurve) -> Self {
        let first = Segment { from: start, curve: rate.clone(), base: Integral::ZERO };
        Self { segments: vec![first], cursor: Cursor::NOWHERE }
    }

    /// Returns when arrival `index` is due, if the rates known so far reach it before the end of
    /// time.
    #[inline]
    pub(crate) fn instant_at(&mut self, index: u64) -> Option<Nanos> {
        let cursor = &mut self.cursor;
        if index >= cursor.index_end || index < cursor.index {
            self.seek(index)?;
        } else if index > cursor.index {
            let indices = index - cursor.index;
            if cursor.strides[0].indices != indices {
                cursor.strides.swap(0, 1);
                if cursor.strides[0].indices != indices {
                    cursor.strides[0] = cursor.piece.stride(indices);
                }
            }
            let stride = cursor.strides[0];
            cursor.index = index;
            cursor.ns = cursor.ns.saturating_add(stride.ns);
            cursor.rest += stride.rest;
            if cursor.rest >= cursor.unit {
                cursor.rest -= cursor.unit;
                cursor.ns = cursor.ns.saturating_add(1);
            }
        }
        self.cursor.piece.from.0.checked_add_unsigned(self.cursor.ns).map(Nanos)
    }

    /// Sets the rate to `rate` from `at` on, replacing what was planned after it.
    pub(crate) fn change(&mut self, at: Nanos, rate: Rate) {
        let start = self.segments[0].from;
        let keep = self.segments.partition_point(|segment| segment.from < at);
        self.segments.truncate(keep);
        let (from, base) = match self.segments.last() {
            Some(last) => (at, last.integral(at)),
            // A change at or before the start does not move the start of the phase.
            None => (start, Integral::ZERO),
        };
        self.segments.push(Segment { from, curve: RateCurve::constant(rate, None), base });
        self.cursor = Cursor::NOWHERE;
    }

    fn seek(&mut self, index: u64) -> Option<()> {
        self.cursor = Cursor::NOWHERE;
        // The first index of a segment rises with the segments. If several have the same first
        // index, all but the last are empty.
        let number = self.segments.partition_point(|segment| segment.base.ceil() <= index) - 1;
        let index_end = self.segments.get(number + 1).map_or(u64::MAX, |next| next.base.ceil());
        let segment = &self.segments[number];
        if number > 0 {
            let rate = segment.curve.max();
            return self.seek_constant(Piece::new(segment.from, rate, segment.base), index, index_end);
        }
        let ticks_of_one = 2 * u128::from(segment.curve.per().0.unsigned_abs());
        let ticks = u128::from(index).checked_mul(ticks_of_one)?;
        let found = segment.curve.piece_reaching(ticks)?;
        let from = Nanos(segment.from.0.checked_add(found.from.0)?);
        let CurvePiece { begin, end, before, .. } = found;
        if begin == end {
            let next = (before + found.ticks()).div_ceil(ticks_of_one);
            let index_end = index_end.min(u64::try_from(next).unwrap_or(u64::MAX));
            let rate = Rate { count: begin, per: segment.curve.per() };
            let base = Integral::of(before, ticks_of_one);
            return self.seek_constant(Piece::new(from, rate, base), index, index_end);
        }
        let ns = found.inverse(ticks - before).0.unsigned_abs();
        let piece = Piece { from, ..Cursor::NOWHERE.piece };
        self.cursor = Cursor { piece, index, ns, index_end: index + 1, ..Cursor::NOWHERE };
        Some(())
    }

    fn seek_constant(&mut self, piece: Piece, index: u64, index_end: u64) -> Option<()> {
        if piece.count == 0 {
            return None;
        }
        let (ns, rest) = piece.inverse(index);
        let strides = [Stride::default(); 2];
        self.cursor = Cursor { piece, index, ns, rest, unit: piece.unit(), index_end, strides };
        Some(())
    }
}

impl Cursor {
    const NOWHERE: Self = Self {
        piece: Piece { from: Nanos::ZERO, count: 0, per: 1, base: Integral::ZERO },
        index: 0,
        ns: 0,
        rest: 0,
        unit: 0,
        index_end: 0,
        strides: [Stride { indices: 0, ns: 0, rest: 0 }; 2],
    };
}

impl Segment {
    /// Returns the integral at an instant at or after the start of the segment.
    ///
    /// On a ramp it is rounded up to a half tick of the curve, so that no arrival before the
    /// instant is counted after it.
    fn integral(&self, at: Nanos) -> Integral {
        let ticks_of_one = 2 * u128::from(self.curve.per().0.unsigned_abs());
        let grown = self.curve.ticks_before(Nanos(at.since(self.from) as i64));
        let grown = Integral::of(grown, ticks_of_one);
        self.base.plus(grown.whole, grown.part, grown.of)
    }
}

impl Piece {
    fn new(from: Nanos, rate: Rate, base: Integral) -> Self {
        let per = u64::try_from(rate.per.0).unwrap_or(0).max(1);
        let divisor = greatest_common_divisor(rate.count, per);
        let (count, per) = (rate.count / divisor, per / divisor);
        // More than one arrival per nanosecond cannot be distinguished from one.
        let (count, per) = if count > per { (1, 1) } else { (count, per) };
        Self { from, count, per, base }
    }

    /// The unit of `rest`: `1 / unit` of a nanosecond. At most 2^63 × [`Integral::OF_MAX`].
    fn unit(&self) -> u128 {
        u128::from(self.count) * u128::from(self.base.of)
    }

    /// Returns how long after `from` the integral reaches `index`, as nanoseconds and rest.
    /// Requires `index >= base`.
    ///
    /// ```text
    /// (index − whole − part/of) × per / count
    ///     = ⌊a × per / count⌋ + (rest × of − part × per) / (count × of)
    /// ```
    fn inverse(&self, index: u64) -> (u64, u128) {
        let scaled = u128::from(index - self.base.whole) * u128::from(self.per);
        let (whole, rest) = (scaled / u128::from(self.count), scaled % u128::from(self.count));
        let unit = self.unit();
        let taken = u128::from(self.base.part) * u128::from(self.per);
        let rest = rest * u128::from(self.base.of);
        // Subtract what the base already contains: whole nanoseconds and the fraction below one.
        let (taken_ns, taken_rest) = (taken / unit, taken % unit);
        let (borrow, rest) =
            if rest >= taken_rest { (0, rest - taken_rest) } else { (1, rest + unit - taken_rest) };
        (u64::try_from(whole - taken_ns - borrow).unwrap_or(u64::MAX), rest)
    }

    fn stride(&self, indices: u64) -> Stride {
        let scaled = u128::from(indices) * u128::from(self.per);
        let count = u128::from(self.count);
        Stride {
            indices,
            ns: u64::try_from(scaled / count).unwrap_or(u64::MAX),
            rest: scaled % count * u128::from(self.base.of),
        }
    }
}

impl Integral {
    /// Keeps every product below 2^127. Rates per s, min and h in any order stay far below this
    /// bound and are exact. A chain of changes between unusual periods is rounded to 2^-62 of an
    /// arrival.
    const OF_MAX: u64 = 1 << 62;

    const ZERO: Self = Self { whole: 0, part: 0, of: 1 };

    /// Returns `ticks / of`, rounded up if no fraction with [`OF_MAX`](Self::OF_MAX) can express
    /// it.
    fn of(ticks: u128, of: u128) -> Self {
        let whole = u64::try_from(ticks / of).unwrap_or(u64::MAX);
        let mut part = ticks % of;
        let (mut a, mut b) = (part, of);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let mut of = of / a;
        part /= a;
        while of > u128::from(Self::OF_MAX) {
            (part, of) = (part.div_ceil(2), of.div_ceil(2));
        }
        Self { whole, part: part as u64, of: of as u64 }
    }

    /// Returns the first index at or after the integral.
    fn ceil(self) -> u64 {
        self.whole.saturating_add(u64::from(self.part > 0))
    }

    fn plus(self, whole: u64, part: u64, of: u64) -> Self {
        let common = u128::from(self.of / greatest_common_divisor(self.of, of)) * u128::from(of);
        let (sum, of) = if common <= u128::from(Self::OF_MAX) {
            let scale = |part: u64, of: u64| u128::from(part) * (common / u128::from(of));
            (scale(self.part, self.of) + scale(part, of), common)
        } else {
            let scale = |part: u64, of: u64| u128::from(part) * u128::from(Self::OF_MAX) / u128::from(of);
            (scale(self.part, self.of) + scale(part, of), u128::from(Self::OF_MAX))
        };
        let (carry, part) = ((sum / of) as u64, (sum % of) as u64);
        let divisor = greatest_common_divisor(part, of as u64);
        Self {
            whole: self.whole.saturating_add(whole).saturating_add(carry),
            part: part / divisor,
            of: of as u64 / divisor,
        }
    }
}
