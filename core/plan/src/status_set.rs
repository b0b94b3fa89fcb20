//! [`StatusSet`] as people write it: `200,301`, `200 to 399`, `200 or 409`.

use std::fmt;

use serde::{Deserialize, Serialize};
use wavetank_units::{Code, UserError};

/// A set of status codes, as inclusive ranges in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusSet(pub Vec<(u16, u16)>);

impl StatusSet {
    /// Whether `status` is in the set.
    pub fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|&(low, high)| (low..=high).contains(&status))
    }

    /// Returns the default statuses of a *done* response: 200 to 399.
    pub fn default_expected() -> Self {
        Self(vec![(200, 399)])
    }

    /// Parses codes and ranges joined by commas or `or`: `200,301`, `200 to 399`, `200-299,404`,
    /// `2xx`.
    ///
    /// Fails on codes outside 100 to 999 (RFC 9110 §15 gives three digits) and on ranges that run
    /// backwards.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let bad = |why: String| UserError::usage(Code::BadStatus, why, "for example 200,301 or 200 to 399");
        let mut ranges = Vec::new();
        for word in text.replace(" or ", ",").split(',').map(str::trim) {
            let range = match word.split_once(" to ").or_else(|| word.split_once('-')) {
                Some((low, high)) => code(low).zip(code(high)),
                None => class(word).or_else(|| code(word).map(|only| (only, only))),
            };
            let (low, high) = range.ok_or_else(|| bad(format!("`{word}` is not a status code")))?;
            if low > high {
                return Err(bad(format!("`{word}` is reversed")));
            }
            ranges.push((low, high));
        }
        ranges.sort_unstable();
        Ok(Self(merged(&ranges)))
    }
}

/// `200 to 399, 404`.
impl fmt::Display for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (low, high)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            if low == high {
                write!(f, "{comma}{low}")?;
            } else {
                write!(f, "{comma}{low} to {high}")?;
            }
        }
        Ok(())
    }
}

fn code(word: &str) -> Option<u16> {
    let word = word.trim();
    let digits = word.len() == 3 && word.bytes().all(|b| b.is_ascii_digit());
    word.parse().ok().filter(|code| digits && *code >= 100)
}

/// `2xx` is 200 to 299.
fn class(word: &str) -> Option<(u16, u16)> {
    let digit = word.strip_suffix("xx")?.parse::<u16>().ok().filter(|digit| (1..=9).contains(digit))?;
    Some((digit * 100, digit * 100 + 99))
}

/// Joins overlapping and neighbouring ranges of a sorted list.
fn merged(sorted: &[(u16, u16)]) -> Vec<(u16, u16)> {
    let mut joined: Vec<(u16, u16)> = Vec::new();
    for &(low, high) in sorted {
        match joined.last_mut() {
            Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
            _ => joined.push((low, high)),
        }
    }
    joined
}
