//! [`NumberRange`]: numbers in patterns of host names, such as the `01-16` of `load[01-16]`.

/// Digits that a `u64` holds in any case.
const DIGITS_MAX: usize = 18;

/// Whole numbers from the first to the last, with the width in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberRange {
    first: u64,
    last: u64,
    /// Number of digits, filled with zeros; 0: as many as each number has.
    width: usize,
}

impl NumberRange {
    /// Reads both ends. A leading zero of the first determines the width: `08` to `10` is 08, 09,
    /// 10. `None`: one of them is not a number.
    pub fn parse(first: &str, last: &str) -> Option<Self> {
        let number = |text: &str| {
            let is_number =
                (1..=DIGITS_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            text.parse().ok().filter(|_| is_number)
        };
        let width = if first.starts_with('0') { first.len() } else { 0 };
        Some(Self { first: number(first)?, last: number(last)?, width })
    }

    /// Whether the last number is smaller than the first.
    pub const fn is_backwards(self) -> bool {
        self.last < self.first
    }

    /// Returns how many numbers lie after the first one.
    pub const fn span(self) -> u64 {
        self.last.saturating_sub(self.first)
    }

    /// Returns the numbers as they are written, each `step` more than the one before.
    pub fn numbers(self, step: usize) -> impl Iterator<Item = String> {
        let width = self.width;
        (self.first..=self.last).step_by(step.max(1)).map(move |number| format!("{number:0width$}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: &str, last: &str, expected: Option<&str>) {
        let found =
            NumberRange::parse(first, last).map(|range| range.numbers(1).collect::<Vec<_>>().join(" "));
        assert_eq!(found.as_deref(), expected, "{first} to {last}");
    }

    #[test]
    fn a_leading_zero_is_the_width() {
        check("08", "10", Some("08 09 10"));
        check("8", "10", Some("8 9 10"));
        check("7", "7", Some("7"));
        check("", "7", None);
        check("1", "x", None);
        check("1", "1111111111111111111", None);
        let range = NumberRange::parse("1", "6").expect("numbers");
        assert_eq!(range.numbers(2).collect::<Vec<_>>(), ["1", "3", "5"]);
        assert!(NumberRange::parse("3", "1").is_some_and(NumberRange::is_backwards));
    }
}
