//! Translates the parser's YAML errors into messages about the probable mistake.

use serde_saphyr::granit_parser::{ErrorKind, ScanError};
use wavetank_units::Code;

use super::DEPTH_MAX;
use crate::{Diagnostic, ErrorHints, Span, unquoted_chars};

/// Number of lines before the parser's place that are searched for the cause. The parser notices
/// some mistakes only in a later line.
const LINES_BACK: usize = 3;

/// Returns a diagnostic for an error of the parser, in terms of the grammar if the cause is
/// recognised.
pub(super) fn scan_error(error: &ScanError, text: &str, advice: &ErrorHints) -> Diagnostic {
    let marker = error.marker();
    let at = marker.byte_offset().unwrap_or(text.len()).min(text.len());
    let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let place = Span { line: marker.line(), column: marker.col() + 1, start: at, end: at };
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return too_deep(place, advice);
    }
    lines_before(text, at)
        .find_map(|line| recognised(&line))
        .unwrap_or_else(|| with_example(by_kind(error, place), advice))
}

/// Deeper than anything a person writes.
pub(super) fn too_deep(place: Span, advice: &ErrorHints) -> Diagnostic {
    let message = format!("maps and lists are nested more than {DEPTH_MAX} levels deep");
    Diagnostic::error(Code::TooDeep, place, message, advice.deep)
}

/// A tag starts with `!`. Nearly always it is a condition without its subject.
pub(super) fn tag_error(tag: &str, text: &str, place: Span) -> Diagnostic {
    let line = Line::holding(text, place.start);
    if let Some(found) = line.and_then(|line| without_subject(&line)) {
        return found;
    }
    let message = format!("`{tag}` is a YAML tag, and tags are not supported");
    Diagnostic::error(
        Code::YamlTag,
        place,
        message,
        "leave out the tag, or put text in quotes: \"!important\"",
    )
}

/// One line and where it begins.
struct Line<'t> {
    text: &'t str,
    number: usize,
    start: usize,
}

impl<'t> Line<'t> {
    fn holding(text: &'t str, at: usize) -> Option<Self> {
        let before = text.get(..at)?;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        let number = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
        Some(Self { text: &text[start..end], number, start })
    }

    fn place(&self, from: usize, to: usize) -> Span {
        let column = 1 + self.text[..from].chars().count();
        Span { line: self.number, column, start: self.start + from, end: self.start + to }
    }
}

/// The line at `at` and some before it, nearest first.
fn lines_before(text: &str, at: usize) -> impl Iterator<Item = Line<'_>> {
    let mut next = Some(at);
    std::iter::from_fn(move || {
        let line = Line::holding(text, next?)?;
        next = line.start.checked_sub(1);
        Some(line)
    })
    .take(LINES_BACK + 1)
}

fn recognised(line: &Line<'_>) -> Option<Diagnostic> {
    if line.text.trim_start().starts_with('#') {
        return None;
    }
    without_subject(line)
        .or_else(|| bare_template(line))
        .or_else(|| at_sign(line))
        .or_else(|| bare_brackets(line))
        .or_else(|| colon_in_text(line))
}

/// `- != 500`, `- >= 3`.
fn without_subject(line: &Line<'_>) -> Option<Diagnostic> {
    let dash = line.text.find("- ")?;
    let rest = line.text[dash + 2..].trim();
    let operator = ["!=", ">=", "<=", "=", ">", "<"].into_iter().find(|op| rest.starts_with(op))?;
    if !line.text[..dash].trim().is_empty() || rest.len() == operator.len() {
        return None;
    }
    let from = line.text.len() - line.text[dash + 2..].trim_start().len();
    let message = format!("`{rest}` has no subject");
    let hint = format!("a condition starts with its subject: status {rest}");
    Some(Diagnostic::error(Code::ConditionSubject, line.place(from, from + rest.len()), message, hint))
}

/// `{sku: ${sku}}`: the braces of the template end the map.
fn bare_template(line: &Line<'_>) -> Option<Diagnostic> {
    let mut flow = 0_usize;
    for (at, letter) in unquoted_chars(line.text) {
        match letter {
            '$' if flow > 0 && line.text[at..].starts_with("${") => {
                let end = line.text[at..].find('}').map_or(line.text.len(), |end| at + end + 1);
                let template = &line.text[at..end];
                let message = format!("`{template}` is in {{ }} or [ ] without quotes");
                let hint = format!("in {{ }} and [ ] write \"{template}\" in quotes");
                return Some(Diagnostic::error(Code::TemplateUnquoted, line.place(at, end), message, hint));
            }
            '{' | '[' => flow += 1,
            '}' | ']' => flow = flow.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// `file: @body.json`, as curl and ab write it; a back quote is reserved in the same way.
fn at_sign(line: &Line<'_>) -> Option<Diagnostic> {
    let found = line.text.find(": @").map(|at| at + 2).or_else(|| line.text.find(": `").map(|at| at + 2))?;
    let word = line.text[found..].split([' ', ',', '}', ']']).next().unwrap_or_default();
    let place = line.place(found, found + word.len());
    let Some(name) = word.strip_prefix('@') else {
        let hint = "put text that starts with it in quotes: \"`…\"";
        return Some(Diagnostic::error(
            Code::YamlReserved,
            place,
            "a value cannot start with a back-quote",
            hint,
        ));
    };
    let key =
        line.text[..found].trim_end_matches([':', ' ']).rsplit([' ', '{', ',']).next().unwrap_or("file");
    let message = format!("`{word}` begins with @");
    Some(Diagnostic::error(Code::AtSign, place, message, format!("no @ needed: {key}: {name}")))
}

/// `[load[01-20]]`: the brackets of the pattern are a list inside a list.
fn bare_brackets(line: &Line<'_>) -> Option<Diagnostic> {
    let mut from = 0;
    while let Some(open) = line.text[from..].find('[').map(|at| from + at) {
        let before = &line.text[..open];
        let word =
            before.len() - before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '-').len();
        let close = line.text[open..].find(']').map(|at| open + at);
        let inside = close.map(|close| &line.text[open + 1..close]).unwrap_or_default();
        let ranged =
            !inside.is_empty() && inside.bytes().all(|byte| byte.is_ascii_digit() || b"-,".contains(&byte));
        let quoted = before.matches('"').count() % 2 == 1;
        if let Some(close) = close.filter(|_| word > 0 && ranged && !quoted) {
            let pattern = &line.text[open - word..=close];
            let message = format!("`{pattern}` is in a list without quotes");
            let place = line.place(open - word, close + 1);
            return Some(Diagnostic::error(
                Code::BracketsUnquoted,
                place,
                message,
                format!("quote \"{pattern}\""),
            ));
        }
        from = open + 1;
    }
    None
}

/// `about: first: second`.
fn colon_in_text(line: &Line<'_>) -> Option<Diagnostic> {
    let (key, value) = line.text.split_once(": ")?;
    let value = value.trim_start();
    let plain = !value.starts_with(['"', '\'', '{', '[', '|', '>', '#', '&', '*']);
    let value = value.split(" #").next().unwrap_or(value).trim_end();
    let bare_key = !key.contains(['"', '\'', '{', '[']);
    if !(plain && bare_key && (value.contains(": ") || value.ends_with(':'))) {
        return None;
    }
    let from = line.text.find(value)?;
    let message = format!("`{value}` contains a colon");
    let hint = format!("put text with a colon and a space in quotes: {}: \"{value}\"", key.trim());
    Some(Diagnostic::error(Code::ColonUnquoted, line.place(from, from + value.len()), message, hint))
}

/// Adds an example in this grammar to hints about the syntax of maps.
fn with_example(diagnostic: Diagnostic, advice: &ErrorHints) -> Diagnostic {
    let example = match diagnostic.code {
        Code::YamlBrackets => advice.map,
        Code::YamlIndent => advice.line,
        _ => return diagnostic,
    };
    Diagnostic { hint: format!("{}: {example}", diagnostic.hint), ..diagnostic }
}

/// Returns a diagnostic for all other errors, by the parser's kind of error.
fn by_kind(error: &ScanError, place: Span) -> Diagnostic {
    let (code, message, hint) = match error.kind() {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => (
            Code::YamlTab,
            "a tab is used where YAML requires spaces",
            "indent with spaces: two for each level",
        ),
        ErrorKind::UnclosedQuotedScalar | ErrorKind::InvalidQuotedScalarIndent => {
            (Code::YamlQuote, "a quote is not closed", "close it in the same line")
        }
        ErrorKind::InvalidTrailingDoubleQuotedScalar | ErrorKind::InvalidTrailingSingleQuotedScalar => {
            (Code::YamlQuote, "something follows the closing quote", "put the whole value in quotes")
        }
        ErrorKind::UnknownQuotedScalarEscape | ErrorKind::InvalidQuotedScalarHexEscape => (
            Code::YamlEscape,
            "unknown escape in double quotes",
            "write a backslash as \\\\ there, or use single quotes",
        ),
        ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::MismatchedFlowCollectionEnd { .. }
        | ErrorKind::MisplacedFlowCollectionEnd
        | ErrorKind::BlockEntryInFlowCollection
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator => (
            Code::YamlBrackets,
            "the brackets do not match, or a comma is missing",
            "close each { and [, and separate entries with commas",
        ),
        ErrorKind::UnknownAnchor => (
            Code::YamlAlias,
            "text that starts with * refers to an anchor, but the anchor is missing",
            "put it in quotes: \"*…\"",
        ),
        ErrorKind::DirectiveDisallowed => (
            Code::YamlDirective,
            "a line that begins with % is a directive",
            "leave it out, or put text in quotes: \"%…\"",
        ),
        ErrorKind::UnexpectedCharacter { .. } => {
            (Code::YamlReserved, "a value cannot start with this character", "put the text in quotes")
        }
        ErrorKind::InvalidIndentation
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::SimpleKeyExpected
        | ErrorKind::MappingKeyNotAllowed
        | ErrorKind::MappingValueNotAllowed
        | ErrorKind::InvalidSimpleKey => (
            Code::YamlIndent,
            "this line does not fit the lines above it",
            "start all keys of a map in the same column, each followed by a colon and a space",
        ),
        _ => {
            let message = format!("this is not valid YAML: {}", error.info());
            let hint = "put text with special characters in quotes: \"…\"";
            return Diagnostic::error(Code::YamlSyntax, place, message, hint);
        }
    };
    Diagnostic::error(code, place, message, hint)
}
