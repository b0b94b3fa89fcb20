//! [`Pattern`]: `regex /RE/`, on bytes.

use regex_automata::meta::{Config, Regex};
use regex_automata::util::syntax;
use regex_automata::{Input, Span};
use wavetank_units::{Code, UserError};

/// Maximum size of a compiled pattern, in bytes.
const PATTERN_SIZE_MAX: usize = 4 << 20;

/// A regular expression. A match yields its first group, or the whole match if the expression has
/// no group. Time is linear in the length of the body.
///
/// `regex-automata`, the engine of the `regex` crate, is used directly: it reports groups into an
/// array on the stack.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    group: bool,
}

impl Pattern {
    /// Reads `/RE/` followed by flags: `i` (any case), `m` (`^` and `$` at each line), `s` (`.`
    /// matches line ends).
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let bad = |message: String, hint: &str| UserError::usage(Code::ExtractRegex, message, hint);
        let hint = "write `regex /sku=(\\w+)/`, with flags such as `i` after the last `/`";
        let slashes = text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
        let Some((pattern, flags)) = slashes else {
            return Err(bad(format!("`{text}` is not between slashes"), hint));
        };
        let mut syntax = syntax::Config::new().utf8(false);
        for flag in flags.chars() {
            syntax = match flag {
                'i' => syntax.case_insensitive(true),
                'm' => syntax.multi_line(true),
                's' => syntax.dot_matches_new_line(true),
                _ => {
                    return Err(bad(
                        format!("`{flag}` is not a flag of a regular expression"),
                        "use `i`, `m` or `s`",
                    ));
                }
            };
        }
        let size = Some(PATTERN_SIZE_MAX);
        let config = Config::new().utf8_empty(false).nfa_size_limit(size).onepass_size_limit(size);
        let regex = Regex::builder().configure(config).syntax(syntax).build(pattern).map_err(|error| {
            let why = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            bad(
                format!("`/{pattern}/` is not a regular expression: {why}"),
                "use the syntax of Rust's regex crate, which has no look-around and no back-references",
            )
        })?;
        Ok(Self { group: regex.captures_len() > 1, regex })
    }

    /// Whether the expression matches anywhere in `text`.
    pub fn is_match(&self, text: &[u8]) -> bool {
        self.regex.is_match(text)
    }

    /// Returns the value of the first match at or after `from`, and where to look for the next one.
    /// A group that took no part in a match has no value, which differs from empty text: the next
    /// match is tried.
    pub(super) fn find<'b>(&self, body: &'b [u8], from: usize) -> Option<(&'b [u8], usize)> {
        let mut from = from;
        while from <= body.len() {
            let mut slots = [None; 4];
            let used = if self.group { 4 } else { 2 };
            let input = Input::new(body).span(Span { start: from, end: body.len() });
            self.regex.search_slots(&input, &mut slots[..used])?;
            let place = |at: usize| slots[at].map(regex_automata::util::primitives::NonMaxUsize::get);
            let (start, end) = (place(0)?, place(1)?);
            let next = if end > start { end } else { end + 1 };
            let group = if self.group { place(2).zip(place(3)) } else { Some((start, end)) };
            if let Some((start, end)) = group {
                return Some((&body[start..end], next));
            }
            from = next;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_matches_without_their_group_need_no_stack() {
        let pattern = Pattern::parse("/a|(b)/").unwrap();
        let mut body = vec![b'a'; 1 << 20];
        assert_eq!(pattern.find(&body, 0), None);
        body.push(b'b');
        assert_eq!(pattern.find(&body, 0), Some((&b"b"[..], body.len())));
    }
}
