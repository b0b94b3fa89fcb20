//! The integral of one straight piece and its inverse, in whole numbers.
//!
//! A piece from `c0` to `c1` arrivals per `per` in `L` ns has collected `(2 L c0 t + (c1 − c0) t²)
//! / (2 L per)` arrivals after `t` ns. The integral is counted in half ticks, `1 / (2 per)` of an
//! arrival. The integral of a whole piece, `(c0 + c1) L`, is then always a whole number, and no
//! rounding happens at a knot.

/// A straight piece: its length in ns, and the arrivals per `per` at its start and end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ramp {
    pub(super) length: u64,
    pub(super) begin: u64,
    pub(super) end: u64,
}

impl Ramp {
    /// Whether all products below fit.
    pub(super) fn fits(self) -> bool {
        let square = u128::from(self.length).checked_mul(u128::from(self.length));
        let sum = u128::from(self.begin) + u128::from(self.end);
        // One step beyond the end needs twice as much, hence two bits.
        self.begin == self.end
            || square.and_then(|square| square.checked_mul(sum)).is_some_and(|all| all < 1 << 125)
    }

    /// Half ticks of the whole piece.
    pub(super) fn total(self) -> u128 {
        (u128::from(self.begin) + u128::from(self.end)) * u128::from(self.length)
    }

    /// Half ticks after `t` ns, rounded down, and whether that lost something.
    pub(super) fn after(self, t: u64) -> (u128, bool) {
        if self.begin == self.end {
            return (u128::from(self.begin) * 2 * u128::from(t), false);
        }
        let scaled = self.scaled(t);
        let length = u128::from(self.length);
        (scaled / length, !scaled.is_multiple_of(length))
    }

    /// `length` times the half ticks after `t` ns.
    fn scaled(self, t: u64) -> u128 {
        if self.begin <= self.end {
            parabola(self.begin, self.end - self.begin, self.length, t)
        } else {
            // From the end backwards it rises, and sums of positive numbers lose nothing.
            let all = self.total() * u128::from(self.length);
            all - parabola(self.end, self.begin - self.end, self.length, self.length - t)
        }
    }

    /// Returns the last whole nanosecond of the piece before which at most `ticks` half ticks are
    /// collected. `ticks` is below the total.
    pub(super) fn inverse(self, ticks: u128) -> u64 {
        let length = u128::from(self.length);
        if self.begin == self.end {
            return (ticks / (2 * u128::from(self.begin))) as u64;
        }
        let target = ticks * length;
        if self.begin < self.end {
            let (low, slope) = (self.begin, self.end - self.begin);
            let mut t = guess(low, slope, self.length, target);
            while t > 0 && parabola(low, slope, self.length, t) > target {
                t -= 1;
            }
            while t < self.length && parabola(low, slope, self.length, t + 1) <= target {
                t += 1;
            }
            return t;
        }
        let (low, slope) = (self.end, self.begin - self.end);
        // The first nanosecond from the end at which at least the rest is collected.
        let rest = self.total() * length - target;
        let mut t = guess(low, slope, self.length, rest);
        while t < self.length && parabola(low, slope, self.length, t) < rest {
            t += 1;
        }
        while t > 0 && parabola(low, slope, self.length, t - 1) >= rest {
            t -= 1;
        }
        self.length - t
    }
}

/// `2 L low t + slope t²`.
fn parabola(low: u64, slope: u64, length: u64, t: u64) -> u128 {
    let t = u128::from(t);
    (2 * u128::from(length) * u128::from(low) + u128::from(slope) * t) * t
}

/// Estimates where the parabola reaches `target`, to about a nanosecond. It is only a starting
/// point: the exact result comes from whole numbers, so it does not depend on a machine's floating
/// point.
fn guess(low: u64, slope: u64, length: u64, target: u128) -> u64 {
    let (half, slope, target) = (length as f64 * low as f64, slope as f64, target as f64);
    let t = target / (half + (half * half + slope * target).sqrt());
    (t as u64).min(length)
}
