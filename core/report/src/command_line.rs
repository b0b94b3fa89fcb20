//! Arguments of a stored command line.

/// Splits `line` into arguments, each quoted one with its quotes. An unclosed quote reaches to the
/// end.
pub(crate) fn quoted_words(line: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    line.split(move |letter| {
        is_quoted ^= letter == '\'';
        letter == ' ' && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_one_word() {
        let words: Vec<_> = quoted_words("run --threshold 'p99 < 5ms' -d 4s 'a").collect();
        assert_eq!(words, ["run", "--threshold", "'p99 < 5ms'", "-d", "4s", "'a"]);
    }
}
