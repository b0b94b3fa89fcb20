//! Dates in `Expires`, parsed as in RFC 6265 §5.1.1: by the form of the tokens, in any order.

/// Returns a cookie's date in seconds since 1970, or `None` if the text is not a date.
///
/// ```
/// # use wavetank_journey::cookies::cookie_date;
/// assert_eq!(cookie_date(b"Wed, 09 Jun 2021 10:18:14 GMT"), Some(1_623_233_894));
/// ```
pub fn cookie_date(text: &[u8]) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(|byte| is_delimiter(*byte)).filter(|token| !token.is_empty()) {
        if time.is_none()
            && let Some(found) = time_of_day(token)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = number(token, 1, 2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_number(token)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = number(token, 2, 4)
        {
            year = Some(found);
        }
    }
    let ([hour, minute, second], day, month) = (time?, day?, month?);
    let year = match year? {
        short @ 70..=99 => short + 1900,
        short @ 0..=69 => short + 2000,
        long => long,
    };
    if year < 1601 || hour > 23 || minute > 59 || second > 59 || !(1..=days_of(month, year)).contains(&day) {
        return None;
    }
    Some(days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, 0x09 | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e)
}

/// Parses a number of `least` to `most` digits at the start of `token`. No further digit may
/// follow.
fn number(token: &[u8], least: usize, most: usize) -> Option<i64> {
    let digits = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (least..=most)
        .contains(&digits)
        .then(|| token[..digits].iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

fn time_of_day(token: &[u8]) -> Option<[i64; 3]> {
    let mut fields = token.splitn(3, |byte| *byte == b':');
    let whole = |field: &[u8]| field.iter().all(u8::is_ascii_digit).then(|| number(field, 1, 2)).flatten();
    let (hour, minute) = (whole(fields.next()?)?, whole(fields.next()?)?);
    Some([hour, minute, number(fields.next()?, 1, 2)?])
}

fn month_number(token: &[u8]) -> Option<i64> {
    const MONTHS: &[u8; 36] = b"janfebmaraprmayjunjulaugsepoctnovdec";
    let wanted = token.get(..3)?;
    let at = MONTHS.chunks(3).position(|name| wanted.eq_ignore_ascii_case(name))?;
    Some(at as i64 + 1)
}

fn days_of(month: i64, year: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Source: H. Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`, for years
/// after 0.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<i64>) {
        assert_eq!(cookie_date(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn dates_are_read_in_all_their_forms() {
        let expected = Some(784_111_777);
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "6 nov 94 8:49:37",
            "1994 November 6th 08:49:37Z",
            "08:49:37 06-Nov-1994",
        ] {
            check(text, expected);
        }
        check("Thu, 01 Jan 1970 00:00:00 GMT", Some(0));
        check("Thu, 01-Jan-69 00:00:00 GMT", Some(3_124_224_000));
        check("29 Feb 2000 00:00:00", Some(951_782_400));
        check("31 Dec 1969 23:59:59", Some(-1));
        check("Fri, 31 Dec 9999 23:59:59 GMT", Some(253_402_300_799));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "tomorrow",
            "06 Nov 1994",
            "06 Nov 08:49:37",
            "Nov 1994 08:49:37",
            "06 1994 08:49:37",
            "29 Feb 1900 00:00:00",
            "32 Jan 2000 00:00:00",
            "01 Jan 1600 00:00:00",
            "01 Jan 2000 24:00:00",
            "01 Jan 2000 00:60:00",
            "01 Jan 2000 00:00:60",
            "01 Jan 20000 00:00:00",
            "001 Jan 2000 00:00:00",
        ] {
            check(text, None);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            cookie_date(&bytes);
        }
    }
}
