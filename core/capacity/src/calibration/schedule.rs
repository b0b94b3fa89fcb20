//! [`CalibrationSchedule`]: how a calibration's time is divided.

use wavetank_units::{Code, Nanos, UserError};

/// Rounds of each figure, so that a disturbance shows and the median is not it.
const ROUNDS: u32 = 3;
/// Figures that are measured in each round: requests, connections, full and resumed handshakes.
const FIGURES: u32 = 4;
/// Shares of the found rate at which the lag is measured, in percent.
const LAG_PERCENT: [u64; 3] = [50, 80, 95];
/// Time that each measurement takes in addition, for creating threads, the warm-up and the end.
const AROUND: Nanos = Nanos::from_millis(250);
/// Minimum length of a measurement; a shorter one is not meaningful.
const SLICE_MIN: Nanos = Nanos::from_millis(250);
/// From so much time on, the lag is measured in several rounds, too.
const LAG_ROUNDS_FROM: Nanos = Nanos::from_secs(30);
/// Less time than this is not enough for all rounds.
const TOTAL_MIN: Nanos = Nanos::from_secs(8);
/// More time makes no number better.
const TOTAL_MAX: Nanos = Nanos::from_secs(3_600);
/// Holding connections takes one part in `HOLD_PART` of the whole time.
const HOLD_PART: i64 = 12;
/// Connections that are held, and how many of them are opened a second.
const HELD: (u64, u64) = (20_000, 10_000);

/// The parts of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalibrationSchedule {
    /// Rounds of each figure.
    pub rounds: u32,
    /// Rounds of each share's lag.
    pub lag_rounds: u32,
    /// Length of one measurement.
    pub slice: Nanos,
    /// The warm-up before it with the same load, measured separately.
    pub warmup: Nanos,
    /// Shares of the found rate at which the lag is measured, in percent.
    pub lag_percent: [u64; 3],
    /// Number of connections that are held, unless a limit allows fewer.
    pub held: u64,
    /// Connections of them opened a second.
    pub held_at: u64,
    /// How long they are held.
    pub hold: Nanos,
}

impl CalibrationSchedule {
    /// Minimum number of connections that are held, unless a limit allows fewer. With fewer
    /// connections, the cost of a single one cannot be measured.
    pub const HELD_MIN: u64 = 5_000;
    /// The default total: about a minute.
    pub const WHOLE: Nanos = Nanos::from_secs(60);
    /// The quick total: about a quarter of it.
    pub const QUICK: Nanos = Nanos::from_secs(15);

    /// Divides `total`.
    ///
    /// # Errors
    /// A total that is too short for all rounds, or unreasonably long.
    pub fn with_total(total: Nanos) -> Result<Self, UserError> {
        if !(TOTAL_MIN..=TOTAL_MAX).contains(&total) {
            let message = format!("--duration {total} is not between {TOTAL_MIN} and {TOTAL_MAX}");
            let hint = "--quick takes 15 s, and 60 s are the default";
            return Err(UserError::usage(Code::BadDuration, message, hint));
        }
        let lag_rounds = if total >= LAG_ROUNDS_FROM { ROUNDS } else { 1 };
        let slices = i64::from(ROUNDS * FIGURES + lag_rounds * LAG_PERCENT.len() as u32);
        // Opening takes its time as well, and both plateaus are held for a part.
        let hold = Nanos((total.0 / HOLD_PART / 4).max(SLICE_MIN.0));
        let held_for = total.0 / HOLD_PART;
        let held = ((held_for as f64 / 2.0 / 1e9 * HELD.1 as f64) as u64).clamp(Self::HELD_MIN, HELD.0);
        let slice = Nanos(((total.0 - held_for) / slices - AROUND.0).max(SLICE_MIN.0));
        Ok(Self {
            rounds: ROUNDS,
            lag_rounds,
            slice,
            warmup: Nanos((slice.0 / 10).clamp(20_000_000, 200_000_000)),
            lag_percent: LAG_PERCENT,
            held,
            held_at: HELD.1,
            hold,
        })
    }

    /// How long all of it takes, about.
    pub fn total(&self) -> Nanos {
        let slices = i64::from(self.rounds * FIGURES + self.lag_rounds * self.lag_percent.len() as u32);
        let opening = self.held as f64 / self.held_at as f64 * 1e9;
        Nanos(slices * (self.slice.0 + AROUND.0) + opening as i64 + 2 * self.hold.0 + AROUND.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: i64, rounds: (u32, u32), held: u64) {
        let total = Nanos::from_secs(seconds);
        let course = CalibrationSchedule::with_total(total).expect("long enough");
        assert_eq!((course.rounds, course.lag_rounds, course.held), (rounds.0, rounds.1, held), "{course:?}");
        let off = (course.total().as_secs_f64() / total.as_secs_f64() - 1.0).abs();
        assert!(off < 0.1, "{course:?} takes {}", course.total());
    }

    #[test]
    fn the_parts_come_to_the_whole() {
        check(60, (3, 3), 20_000);
        check(30, (3, 3), 12_500);
        check(15, (3, 1), 6_250);
        check(10, (3, 1), 5_000);
        check(3_600, (3, 3), 20_000);
    }

    #[test]
    fn a_time_for_nothing_is_refused() {
        for seconds in [0, 1, 7, 3_601] {
            let error = CalibrationSchedule::with_total(Nanos::from_secs(seconds)).expect_err("no such time");
            assert_eq!(error.code, "bad_duration");
        }
    }
}
