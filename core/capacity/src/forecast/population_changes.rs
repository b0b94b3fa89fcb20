//! [`PopulationChanges`]: how many users or connections a shape starts, and their total time.

use wavetank_plan::PopulationCurve;
use wavetank_plan::shape::Segment;

/// The properties of a shape that matter to a forecast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PopulationChanges {
    /// Started in all, those who were there before not counted.
    pub(super) starts: u64,
    /// No user leaves before the end.
    pub(super) never_falls: bool,
    /// Users × seconds.
    pub(super) seconds: f64,
}

impl PopulationChanges {
    /// Computes the changes of `levels`, with `before` users carried over from the phase before. A
    /// shape without an end counts as one second long.
    pub(super) fn for_levels(levels: &PopulationCurve, before: u64) -> Self {
        let pieces = levels.pieces();
        if let Some(count) = levels.as_constant() {
            let length = levels.length();
            let length =
                if length == wavetank_units::Nanos::MAX { wavetank_units::Nanos::SECOND } else { length };
            return Self {
                starts: count.saturating_sub(before),
                never_falls: count >= before,
                seconds: count as f64 * length.as_secs_f64(),
            };
        }
        let turn: u64 = pieces.iter().map(|piece| piece.length.0.unsigned_abs()).sum();
        let length = levels.length().0.unsigned_abs();
        let (turns, rest) = (length / turn.max(1), length % turn.max(1));
        let mut sum = Self { starts: 0, never_falls: true, seconds: 0.0 };
        let mut level = before;
        if turns > 0 {
            level = sum.one_turn(pieces, level, turn);
            if turns > 1 {
                // From the second turn on they are all alike.
                let mut again = Self { starts: 0, ..sum };
                again.seconds = 0.0;
                level = again.one_turn(pieces, level, turn);
                sum.starts = sum.starts.saturating_add(again.starts.saturating_mul(turns - 1));
                sum.seconds += again.seconds * (turns - 1) as f64;
                sum.never_falls = again.never_falls;
            }
        }
        sum.one_turn(pieces, level, rest);
        sum
    }

    /// Through the pieces from `level` on until `length` ns are over; where that leads.
    fn one_turn(&mut self, pieces: &[Segment], mut level: u64, length: u64) -> u64 {
        let mut left = length;
        for piece in pieces {
            if left == 0 {
                break;
            }
            let whole = piece.length.0.unsigned_abs();
            let took = whole.min(left);
            let moved =
                u128::from(piece.begin.abs_diff(piece.end)) * u128::from(took) / u128::from(whole.max(1));
            let moved = u64::try_from(moved).unwrap_or(u64::MAX);
            let end = if piece.begin <= piece.end { piece.begin + moved } else { piece.begin - moved };
            for (from, to) in [(level, piece.begin), (piece.begin, end)] {
                self.starts = self.starts.saturating_add(to.saturating_sub(from));
                self.never_falls &= to >= from;
            }
            self.seconds += f64::midpoint(piece.begin as f64, end as f64) * took as f64 / 1e9;
            level = end;
            left -= took;
        }
        level
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavetank_units::Nanos;

    fn check(levels: &PopulationCurve, before: u64, starts: u64, never_falls: bool, seconds: f64) {
        let found = PopulationChanges::for_levels(levels, before);
        assert_eq!((found.starts, found.never_falls), (starts, never_falls), "{levels:?}");
        assert!((found.seconds - seconds).abs() < 1e-6 * seconds.max(1.0), "{found:?}: {seconds}");
    }

    #[test]
    fn starts_and_time_of_shapes() {
        let secs = Nanos::from_secs;
        check(&PopulationCurve::constant(10, Some(secs(20))), 0, 10, true, 200.0);
        check(&PopulationCurve::constant(10, Some(secs(20))), 10, 0, true, 200.0);
        check(&PopulationCurve::constant(10, Some(secs(20))), 30, 0, false, 200.0);
        check(&PopulationCurve::ramp(0, 100, secs(10)).expect("a ramp"), 0, 100, true, 500.0);
        check(&PopulationCurve::ramp(100, 0, secs(10)).expect("a ramp"), 100, 0, false, 500.0);
        check(
            &PopulationCurve::stairs(0, 300, 100, secs(5), Nanos::ZERO).expect("stairs"),
            0,
            300,
            true,
            3_000.0,
        );
        // A wave from 0 to 100 and back starts a hundred each time.
        check(
            &PopulationCurve::wave(0, 100, secs(64), secs(640)).expect("a wave"),
            0,
            1_000,
            false,
            32_000.0,
        );
        check(&PopulationCurve::wave(0, 100, secs(64), secs(96)).expect("a wave"), 0, 200, false, 4_800.0);
    }
}
