//! The date format of HTTP.

/// Returns the value of a `Date` field (IMF-fixdate, RFC 9110 §5.6.7), 29 bytes, for seconds since
/// 1970 UTC without leap seconds. Later instants than the year 9999 give the last second of that
/// year.
pub fn http_date(unix_s: u64) -> [u8; 29] {
    let unix_s = unix_s.min(LAST_S);
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    let (year, month, day) = civil(days);
    let mut date = *b"Thu, 00 Jan 1970 00:00:00 GMT";
    // 1 January 1970 was a Thursday.
    date[0..3].copy_from_slice(DAYS[(days % 7) as usize]);
    date[8..11].copy_from_slice(MONTHS[month as usize - 1]);
    two(&mut date, 5, day);
    two(&mut date, 12, year / 100);
    two(&mut date, 14, year % 100);
    two(&mut date, 17, second / 3_600);
    two(&mut date, 20, second / 60 % 60);
    two(&mut date, 23, second % 60);
    date
}

const LAST_S: u64 = 253_402_300_799;
const DAYS: [&[u8; 3]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

fn two(date: &mut [u8; 29], at: usize, value: u64) {
    date[at] = b'0' + (value / 10) as u8;
    date[at + 1] = b'0' + (value % 10) as u8;
}

/// Returns year, month (1 to 12) and day (1 to 31) of a day counted from 1970.
///
/// Internally a year starts in March. The leap day is then its last day, and the starts of the
/// months are on a line with slope 153/5.
const fn civil(days: u64) -> (u64, u64, u64) {
    // Days from 1 March of the year 0 to 1 January 1970, in the proleptic calendar.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + (month <= 2) as u64;
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(unix_s: u64, expected: &str) {
        assert_eq!(std::str::from_utf8(&http_date(unix_s)).unwrap(), expected);
    }

    #[test]
    fn known_dates() {
        check(0, "Thu, 01 Jan 1970 00:00:00 GMT");
        check(784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT");
        check(951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT");
        check(951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT");
        check(951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT");
        check(4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT");
        check(LAST_S, "Fri, 31 Dec 9999 23:59:59 GMT");
        check(u64::MAX, "Fri, 31 Dec 9999 23:59:59 GMT");
    }

    /// Walking through every day of five centuries must agree with counting days by hand.
    #[test]
    fn every_day_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..365 * 500 {
            assert_eq!(civil(days), (year, month, day), "day {days}");
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
    }
}
