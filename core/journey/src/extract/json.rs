//! [`JsonQuery`]: `json PATH` (RFC 9535).

use serde_json::Value;
use serde_json_path::JsonPath;
use wavetank_units::{Code, UserError};

use super::answer::ResponseView;
use super::error::ExtractError;
use super::json_scan::{self, Segment};
use super::parse_cache::ParseCache;
use crate::value::{JsonType, Values};

/// Maximum length of a path, in bytes.
const PATH_BYTES_MAX: usize = 1000;
/// Maximum nesting depth of brackets and parentheses.
const DEPTH_MAX: usize = 16;
/// The first whole number next to which not all are exact as floating point.
const INEXACT_FROM: f64 = 9_007_199_254_740_992.0;
/// Maximum number of `..` in one path: each multiplies the number of matches by the depth of the
/// document.
const DESCENTS_MAX: usize = 2;

/// A compiled JSON path. A path of names and indices alone is found by scanning the bytes. Any
/// other path needs the tree. For both, the last of two equal names in an object counts, as in
/// browsers (RFC 8259 §4 leaves it open).
#[derive(Clone, Debug)]
pub(super) enum JsonQuery {
    Simple(Box<[Segment]>),
    General(Box<JsonPath>),
}

impl JsonQuery {
    pub(super) fn parse(text: &str) -> Result<Self, UserError> {
        let bad = |message: String, hint: &str| Err(UserError::usage(Code::ExtractJson, message, hint));
        let bare = without_quoted(text);
        if text.len() > PATH_BYTES_MAX || !is_shallow(&bare, DEPTH_MAX) {
            return bad(
                "a JSON path is too long or too deeply nested".to_owned(),
                "use a shorter, more direct path",
            );
        }
        if !text.starts_with('$') {
            return bad(
                format!("`{text}` is not a JSON path"),
                "start the path with `$`, which is the whole body: `$.items[0].sku`",
            );
        }
        let path = match JsonPath::parse(text) {
            Ok(path) => path,
            Err(error) => {
                return bad(
                    format!("`{text}` is not a JSON path: {}", error.message()),
                    "use a path of RFC 9535: `$.items[0].sku`, or `$['event-1']` for a name with characters \
                     other than letters, digits and `_`",
                );
            }
        };
        if let Some(segments) = simple(text) {
            return Ok(Self::Simple(segments));
        }
        if bare.matches("..").count() > DESCENTS_MAX || has_query_in_filter(&bare) {
            return bad(
                format!("`{text}` could search the whole body many times"),
                "use at most two `..`, and no `..` or `$` inside a filter `[?…]`",
            );
        }
        if has_inexact_number(&bare) {
            return bad(
                format!("`{text}` has a number that its filter cannot compare exactly"),
                "extract the numbers, and compare them in `check` or `if`, which is exact; filters compare as \
                 floating point, exact below 2^53",
            );
        }
        Ok(Self::General(Box::new(path)))
    }

    pub(super) fn find(
        &self,
        answer: &ResponseView<'_>,
        count_max: usize,
        reading: &mut ParseCache,
        finds: &mut Values,
    ) -> Result<usize, ExtractError> {
        match self {
            Self::Simple(_) if count_max == 0 => Ok(0),
            Self::Simple(segments) => json_scan::find(reading.text(answer), segments, finds).map(usize::from),
            Self::General(path) => {
                let mut count = 0;
                for value in path.query(reading.json(answer)?).all().into_iter().take(count_max) {
                    if !push(value, finds) {
                        return Err(ExtractError::TooLarge);
                    }
                    count += 1;
                }
                Ok(count)
            }
        }
    }
}

fn push(value: &Value, finds: &mut Values) -> bool {
    match value {
        Value::String(text) => finds.push(JsonType::Text, text.as_bytes()),
        Value::Null => finds.push(JsonType::Null, b"null"),
        Value::Bool(flag) => finds.push(JsonType::Bool, if *flag { b"true" } else { b"false" }),
        Value::Number(number) => finds.push(JsonType::Number, number.to_string().as_bytes()),
        nested => finds.push(JsonType::Json, nested.to_string().as_bytes()),
    }
}

/// Whether brackets are nested at most `depth_max` deep, including those in strings. The parser
/// calls itself once for each level.
pub(super) fn is_shallow(text: &str, depth_max: usize) -> bool {
    let mut depth = 0_usize;
    text.bytes().all(|byte| {
        match byte {
            b'(' | b'[' | b'!' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth <= depth_max
    })
}

/// Returns the path without its quoted parts, since quoted names may contain anything.
fn without_quoted(text: &str) -> String {
    let (mut quote, mut escaped) = (None, false);
    text.chars()
        .filter(|one| match quote {
            Some(_) if escaped => {
                escaped = false;
                false
            }
            Some(open) => {
                escaped = *one == '\\';
                quote = (*one != open).then_some(open);
                false
            }
            None => {
                quote = matches!(one, '\'' | '"').then_some(*one);
                quote.is_none()
            }
        })
        .collect()
}

/// Whether a filter searches downwards again, from the root or through all levels. Such a path
/// costs a search for each element that the filter judges.
fn has_query_in_filter(text: &str) -> bool {
    text.split_once('?').is_some_and(|(_, filter)| filter.contains("..") || filter.contains('$'))
}

/// Whether a filter has a number that other whole numbers equal as floating point, which the
/// library compares.
fn has_inexact_number(text: &str) -> bool {
    let filter = text.split_once('?').map_or("", |(_, filter)| filter);
    // A name may have digits, and a number a sign, a fraction and an exponent.
    let words = filter.split(|one: char| !(one.is_alphanumeric() || matches!(one, '_' | '.' | '+')));
    words
        .filter(|word| word.starts_with(|first: char| first.is_ascii_digit()))
        .any(|word| word.parse::<f64>().is_ok_and(|number| number >= INEXACT_FROM))
}

/// Returns the segments of a path that has only names and indices.
fn simple(text: &str) -> Option<Box<[Segment]>> {
    let mut rest = text.strip_prefix('$')?;
    let mut segments = Vec::new();
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('.') {
            let is_name = |one: char| one.is_ascii_alphanumeric() || one == '_' || !one.is_ascii();
            let end = behind.find(|one| !is_name(one)).unwrap_or(behind.len());
            if end == 0 {
                return None;
            }
            segments.push(Segment::Name(behind[..end].into()));
            rest = &behind[end..];
            continue;
        }
        let (inside, behind) = rest.strip_prefix('[')?.split_once(']')?;
        let quoted = |quote: char| inside.strip_prefix(quote).and_then(|name| name.strip_suffix(quote));
        if let Some(name) = quoted('\'').or_else(|| quoted('"')) {
            if name.contains(['\'', '"', '\\']) {
                return None;
            }
            segments.push(Segment::Name(name.into()));
        } else {
            if !inside.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            segments.push(Segment::Index(inside.parse().ok()?));
        }
        rest = behind;
    }
    Some(segments.into())
}
