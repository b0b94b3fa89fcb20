//! [`WallTime`]: the wall time of a run's start, read once by the caller and only formatted here.

/// Nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(pub u64);

impl WallTime {
    /// `2026-11-21T19:00:00Z`, as in `started_at`.
    pub fn rfc3339(self) -> String {
        let [year, month, day, hour, minute, second] = self.fields();
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// `20261121T190000Z`, as in the name of an archive's folder.
    pub fn folder_stamp(self) -> String {
        let [year, month, day, hour, minute, second] = self.fields();
        format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
    }

    /// A whole second as [`rfc3339`](Self::rfc3339) writes it; `None` if it is written otherwise.
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() != 20 || !text.is_ascii() || bytes[10] != b'T' || bytes[19] != b'Z' {
            return None;
        }
        let number = |from: usize, until: usize| text[from..until].parse::<u64>().ok();
        let [year, month, day] = [number(0, 4)?, number(5, 7)?, number(8, 10)?];
        let [hour, minute, second] = [number(11, 13)?, number(14, 16)?, number(17, 19)?];
        if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        // Hinnant's `days_from_civil`, the other way round of `fields`.
        let year = year - u64::from(month <= 2);
        let (era, year_of_era) = (year / 400, year % 400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = (era * 146_097 + day_of_era).checked_sub(719_468)?;
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
        seconds.checked_mul(1_000_000_000).map(Self)
    }

    /// Returns year, month, day, hour, minute, second in UTC. The date is Hinnant's
    /// `civil_from_days`: years that start in March, in eras of 400, so that the leap day is the
    /// last of its year.
    fn fields(self) -> [u64; 6] {
        let seconds = self.0 / 1_000_000_000;
        let days = seconds / 86_400 + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        [year, month, day, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds since the epoch against `date -u`.
    fn check(seconds: u64, rfc3339: &str, compact: &str) {
        let wall = WallTime(seconds * 1_000_000_000 + 999_999_999);
        assert_eq!((wall.rfc3339().as_str(), wall.folder_stamp().as_str()), (rfc3339, compact));
        assert_eq!(WallTime::from_rfc3339(rfc3339), Some(WallTime(seconds * 1_000_000_000)));
        assert_eq!(WallTime::from_rfc3339(compact), None);
    }

    #[test]
    fn dates_are_right_across_leap_days_and_centuries() {
        check(0, "1970-01-01T00:00:00Z", "19700101T000000Z");
        check(951_782_399, "2000-02-28T23:59:59Z", "20000228T235959Z");
        check(951_782_400, "2000-02-29T00:00:00Z", "20000229T000000Z");
        check(1_709_251_199, "2024-02-29T23:59:59Z", "20240229T235959Z");
        check(1_795_287_600, "2026-11-21T19:00:00Z", "20261121T190000Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z", "21000301T000000Z");
    }
}
