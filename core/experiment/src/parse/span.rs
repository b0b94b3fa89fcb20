//! Ranges `A to B`.

use wavetank_grammar::{Diagnostic, Node, Spanned};
use wavetank_units::quantity::{parse_count, parse_rate};
use wavetank_units::{Code, Rate, UserError};

use super::{Parser, TreeReader as _};
use crate::model::FromTo;

impl Parser<'_> {
    /// Reads `N` or `N to N`.
    pub(crate) fn counts(&mut self, node: &Node) -> Option<Spanned<FromTo<u64>>> {
        let text = self.text(node, "a count")?;
        self.span(&text, parse_count)
    }

    /// Reads `RATE` or `RATE to RATE`, and whether it counts requests.
    pub(crate) fn rates(&mut self, node: &Node) -> Option<Spanned<(FromTo<Rate>, bool)>> {
        let text = self.text(node, "a rate")?;
        let of_requests = text.value.contains(" requests/");
        let plain = text.clone().map(|text| text.replace(" requests/", "/").replace(" sessions/", "/"));
        let span = self.span(&plain, parse_rate)?;
        Some(span.map(|span| (span, of_requests)))
    }

    fn span<T: Copy>(
        &mut self,
        text: &Spanned<String>,
        parse: impl Fn(&str) -> Result<T, UserError>,
    ) -> Option<Spanned<FromTo<T>>> {
        let (from, to) = match text.value.split_once(" to ") {
            Some((from, to)) => (from.trim(), Some(to.trim())),
            None => (text.value.as_str(), None),
        };
        let read = |word: &str| parse(word).map_err(|error| dashed(word, error));
        let span = read(from).and_then(|from| {
            let to = to.map_or(Ok(from), read)?;
            Ok(FromTo { from, to })
        });
        match span {
            Ok(span) => Some(Spanned::new(span, text.place)),
            Err(error) => {
                self.out.push(Diagnostic::from_error(error, text.place));
                None
            }
        }
    }
}

/// Replaces the hint if the range is written as `0-100`, `0..100` or `0 - 100`.
fn dashed(word: &str, error: UserError) -> UserError {
    let parts = word.split_once("..").or_else(|| word.split_once('-')).or_else(|| word.split_once('→'));
    match parts {
        Some((from, to))
            if !from.trim().is_empty() && to.trim_start().starts_with(|c: char| c.is_ascii_digit()) =>
        {
            let hint = format!("a range is written {} to {}", from.trim(), to.trim());
            UserError::usage(Code::BadRange, format!("`{word}` is not a number"), hint)
        }
        _ => error,
    }
}
