//! The buckets of a histogram as text: one character for most buckets with values.
//!
//! A second of a thousand requests leaves some 250 buckets with a few values each, and gaps between
//! them. The characters from `!` to `~` without `"` and `\`, which JSON would escape, encode the
//! numbers 0 to 91. `docs/formats/archive.md` describes the meaning of the numbers.

/// Numbers that one character can encode.
const BASE: u64 = 92;
/// Below it: `SHORT_GAP - 1` empty buckets at most, then one with `SHORT_COUNT` values at most.
const SHORT: u64 = SHORT_GAP * SHORT_COUNT;
const SHORT_GAP: u64 = 5;
const SHORT_COUNT: u64 = 16;
/// From `SHORT` to here: together with the next character, the number of values above `SHORT_COUNT`
/// of one bucket.
const LONG: u64 = 90;
/// A bucket with more than that, which follow as a number.
const HUGE: u64 = 90;
const HUGE_FIRST: u64 = SHORT_COUNT + 1 + (LONG - SHORT) * BASE;
/// Empty buckets: one, plus the number that follows.
const GAP: u64 = 91;
/// Digits of a number, the lowest first; so much is added to those that are not the last.
const DIGITS: u64 = 46;
/// No character of a text.
const NONE: u8 = 255;
/// The number that each byte encodes.
const NUMBERS: [u8; 256] = numbers();

/// The text of `counts`.
pub(crate) fn encode(counts: &[u64]) -> String {
    let mut text = Text(String::with_capacity(counts.len() / 2 + 8));
    let mut gap = 0;
    for &count in counts {
        if count == 0 {
            gap += 1;
            continue;
        }
        if gap >= SHORT_GAP || (gap > 0 && count > SHORT_COUNT) {
            text.push(GAP);
            text.push_number(gap - 1);
            gap = 0;
        }
        if count <= SHORT_COUNT {
            text.push(gap * SHORT_COUNT + count - 1);
        } else if count < HUGE_FIRST {
            let beyond = count - SHORT_COUNT - 1;
            text.push(SHORT + beyond / BASE);
            text.push(beyond % BASE);
        } else {
            text.push(HUGE);
            text.push_number(count - HUGE_FIRST);
        }
        gap = 0;
    }
    text.0
}

/// Decodes a text into `counts`, which are all 0. Returns their sum; `None` if the text is invalid,
/// or has more buckets or values than possible.
pub(crate) fn decode(text: &[u8], counts: &mut [u64]) -> Option<u64> {
    let mut sum = 0_u64;
    each(text, |place, count| {
        *counts.get_mut(place)? = count;
        sum = sum.checked_add(count)?;
        Some(())
    })?;
    Some(sum)
}

/// Encodes the differences of `own` from `other`: a surplus as an odd number, a deficit as an even
/// one.
pub(crate) fn encode_differences(own: &[u64], other: &[u64]) -> String {
    let differences: Vec<u64> = own
        .iter()
        .zip(other)
        .map(|(&own, &other)| if own > other { 2 * (own - other) - 1 } else { 2 * (other - own) })
        .collect();
    encode(&differences)
}

/// Applies such differences to `counts`, which contain the values to correct and start `offset`
/// buckets after the text's first one. Outside of `counts`, every difference must remove all of
/// `other`'s values; `other` takes places counted from the text's first bucket. Returns the sum;
/// `None` if the text does not match both.
pub(crate) fn decode_differences(
    text: &[u8],
    counts: &mut [u64],
    offset: usize,
    other: impl Fn(usize) -> u64,
) -> Option<u64> {
    each(text, |place, difference| {
        match place.checked_sub(offset).and_then(|place| counts.get_mut(place)) {
            Some(count) if difference % 2 == 1 => *count = count.checked_add(difference / 2 + 1)?,
            Some(count) => *count = count.checked_sub(difference / 2)?,
            None => return (difference == 2 * other(place)).then_some(()),
        }
        Some(())
    })?;
    counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count))
}

/// Visits every encoded bucket with its place and its number. `None` if `text` is invalid, or
/// `visit` returns `None`.
#[inline]
fn each(text: &[u8], mut visit: impl FnMut(usize, u64) -> Option<()>) -> Option<()> {
    let (mut rest, mut place) = (text, 0_usize);
    while let [byte, tail @ ..] = rest {
        rest = tail;
        let number = u64::from(NUMBERS[usize::from(*byte)]);
        let count = if number < SHORT {
            place += (number / SHORT_COUNT) as usize;
            number % SHORT_COUNT + 1
        } else {
            match number {
                SHORT..LONG => SHORT_COUNT + 1 + (number - SHORT) * BASE + take(&mut rest)?,
                HUGE => HUGE_FIRST.checked_add(take_number(&mut rest)?)?,
                GAP => {
                    let gap = usize::try_from(take_number(&mut rest)?).ok()?;
                    place = place.checked_add(gap)?.checked_add(1)?;
                    continue;
                }
                _ => return None,
            }
        };
        visit(place, count)?;
        place += 1;
    }
    Some(())
}

struct Text(String);

impl Text {
    fn push(&mut self, number: u64) {
        let passed = |byte: u8| byte + u8::from(byte >= b'"');
        let byte = passed(b'!' + number as u8);
        self.0.push(char::from(byte + u8::from(byte >= b'\\')));
    }

    fn push_number(&mut self, mut number: u64) {
        while number >= DIGITS {
            self.push(DIGITS + number % DIGITS);
            number /= DIGITS;
        }
        self.push(number);
    }
}

/// One character's number.
fn take(rest: &mut &[u8]) -> Option<u64> {
    let (byte, tail) = rest.split_first()?;
    *rest = tail;
    Some(NUMBERS[usize::from(*byte)]).filter(|&number| number != NONE).map(u64::from)
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let (mut number, mut worth) = (0_u64, 1_u64);
    loop {
        let digit = take(rest)?;
        number = number.checked_add((digit % DIGITS).checked_mul(worth)?)?;
        if digit < DIGITS {
            return Some(number);
        }
        worth = worth.checked_mul(DIGITS)?;
    }
}

const fn numbers() -> [u8; 256] {
    let mut numbers = [NONE; 256];
    let (mut byte, mut number) = (b'!', 0);
    while byte <= b'~' {
        if byte != b'"' && byte != b'\\' {
            numbers[byte as usize] = number;
            number += 1;
        }
        byte += 1;
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads back what was written, and nothing that fits into less.
    fn check(counts: &[u64], expected: &str) {
        let text = encode(counts);
        assert_eq!(text, expected, "{counts:?}");
        let mut read = vec![0; counts.len()];
        assert_eq!(decode(text.as_bytes(), &mut read), Some(counts.iter().sum()), "{text}");
        assert_eq!(read, counts, "{text}");
        assert_eq!(decode(text.as_bytes(), &mut vec![0; counts.len() - 1]), None, "{text}");
    }

    #[test]
    fn every_form_is_read_back() {
        check(&[1], "!");
        check(&[2, 1, 16], "#!1");
        check(&[1, 0, 0, 0, 0, 16], "!r");
        check(&[1, 0, 0, 0, 0, 0, 1], "!~&!");
        check(&[17, 0, 18], "s!~!s#");
        check(&[936, 937, 938], "|~}!}#");
        check(&[u64::MAX / 2], &encode(&[u64::MAX / 2]));
        let (mut far, mut all) = (vec![0; 4_608], Vec::new());
        (far[0], far[4_607]) = (3, 1_000_000);
        check(&far, &encode(&far));
        for count in (0..1_200).chain((10..63).map(|bit| (1 << bit) + bit)) {
            all.extend_from_slice(&[1, count, 0, 0, count, 0, 0, 0, 0, 0, count, 1]);
        }
        all.truncate(all.len() - 12 * 53);
        check(&all, &encode(&all));
    }

    #[test]
    fn what_is_no_text_of_buckets_is_refused() {
        for text in [
            "\"",
            "\\",
            " ",
            "\u{7f}",
            "é",
            "~",
            "s",
            "}",
            "}Z",
            "~~~~~~~~~~~~~~~~!",
            "}~~~~~~~~~~~~~~~~!!",
            "!\u{0}",
        ] {
            assert_eq!(decode(text.as_bytes(), &mut [0; 99]), None, "{text:?}");
        }
        assert_eq!(decode(b"", &mut []), Some(0));
    }

    #[test]
    fn bytes_of_any_kind_never_panic() {
        let mut state = 7_u64;
        for length in 0..5_000 {
            let bytes: Vec<u8> = (0..length % 60)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    if length % 3 == 0 { (state >> 56) as u8 } else { b'!' + ((state >> 56) % 94) as u8 }
                })
                .collect();
            let mut counts = [0; 300];
            if let Some(sum) = decode(&bytes, &mut counts) {
                assert_eq!(sum, counts.iter().sum::<u64>());
                let mut again = [0; 300];
                assert_eq!(decode(encode(&counts).as_bytes(), &mut again), Some(sum), "{bytes:?}");
                assert_eq!(again, counts);
            }
        }
    }
}
