//! [`is_value`]: what needs no translation.

use wavetank_measure::{DropReason, ErrorClass};

/// Units that follow numbers.
const UNITS: [&str; 28] = [
    "s", "ms", "µs", "ns", "m", "h", "d", "k", "M", "G", "T", "B", "kB", "MB", "GB", "TB", "KiB", "MiB",
    "GiB", "TiB", "bit", "kbit", "Mbit", "Gbit", "x", "bytes", "req", "min",
];

/// Whether `text` is a number with its units (`19.9 ms`, `5,000 req/s`, `503: 12`), or a code with
/// its count (`no_files 12`).
pub(super) fn is_value(text: &str) -> bool {
    is_number(text) || text.split_once(' ').is_some_and(|(code, count)| is_code(code) && is_number(count))
}

fn is_number(text: &str) -> bool {
    let signed = text.trim_start_matches(['+', '-', '−', '~', '>', '<', ' ']);
    signed.starts_with(|letter: char| letter.is_ascii_digit())
        && signed
            .split(|letter: char| !letter.is_alphabetic())
            .all(|word| word.is_empty() || UNITS.contains(&word))
}

fn is_code(word: &str) -> bool {
    ErrorClass::ALL.iter().any(|class| class.name() == word)
        || DropReason::ALL.iter().any(|reason| reason.name() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_codes_need_no_words() {
        let check = |text: &str, value: bool| assert_eq!(is_value(text), value, "{text:?}");
        for text in [
            "0",
            "19.9 ms",
            "3 m 00 s",
            "5 k/s",
            "5,000 req/s",
            "7 req/min",
            "+12 %",
            "~4.1 µs",
            "503: 1,200",
            "1.20 Gbit/s",
            "no_files 12",
        ] {
            check(text, true);
        }
        for text in ["", "ms", "10 users", "7 of 9", "p99", "something 12", "no_files many"] {
            check(text, false);
        }
    }
}
