//! FROM, and the subject of a check: the part of a response to use.

use wavetank_grammar::{Diagnostic, Node, Span, Spanned};
use wavetank_journey::extract::Extractor;
use wavetank_units::{Code, did_you_mean};

use super::{OPERATORS, Parser, TreeReader as _, unquoted_chars};
use crate::model::{AnswerSource, CheckSubject};

const PARTS: [&str; 10] =
    ["status", "time", "size", "body", "header", "cookie", "json", "xml", "css", "regex"];
const SHAPES: &str = "status · time · size · body · header NAME · cookie NAME · json PATH · xml XPATH · css SELECTOR@ATTR · regex /RE/ · ${VAR}";
/// Subjects of conditions on the run, which a response does not have.
const OF_RUN: [&str; 12] =
    ["p50", "p90", "p95", "p99", "mean", "max", "min", "done", "failed", "errors", "done_rate", "in_flight"];

impl Parser<'_> {
    /// Reads `[all] FROM` of `extract`.
    pub(crate) fn from(&mut self, node: &Node) -> Option<(Spanned<AnswerSource>, bool)> {
        let text = self.text(node, "a part of the response")?;
        let (words, all) = match text.value.strip_prefix("all ") {
            Some(rest) => (rest.trim(), true),
            None => (text.value.trim(), false),
        };
        let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
        let from = self.part_of_answer(word, rest.trim(), words, text.place)?;
        let single = matches!(
            from,
            AnswerSource::Status | AnswerSource::Time | AnswerSource::Size | AnswerSource::Body
        );
        if single && (all || !rest.is_empty()) {
            let message = format!("`{}`: a response has one {word}", text.value);
            return self.fail(Code::BadFrom, text.place, message, format!("use {word} alone"));
        }
        Some((Spanned::new(from, text.place), all))
    }

    /// Returns the subject of a check and the text after it.
    pub(super) fn tested<'t>(&mut self, text: &'t str, place: Span) -> Option<(CheckSubject, &'t str)> {
        if text.starts_with("${") {
            let Some(end) = text.find('}') else { return self.unclosed(place) };
            let value = self.template_text(&text[..=end], place)?;
            return Some((CheckSubject::Value(value), &text[end + 1..]));
        }
        if text.starts_with(['=', '!', '<', '>']) {
            let hint = format!("a condition starts with its subject: status {text}");
            return self.fail(Code::ConditionSubject, place, format!("`{text}` has no subject"), hint);
        }
        let end = text.find(|c: char| c.is_whitespace() || "=!<>(".contains(c)).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        let rest = rest.trim_start();
        let length = match word {
            "status" | "time" | "size" | "body" | "data" | "event" | "id" => 0,
            "header" | "cookie" => {
                rest.find(|c: char| c.is_whitespace() || "=!<>".contains(c)).unwrap_or(rest.len())
            }
            "regex" => regex_end(rest),
            "css" => operator_at(rest, true),
            _ => operator_at(rest, false),
        };
        let (argument, rest) = rest.split_at(length);
        self.part_of_answer(word, argument.trim(), text, place).map(|from| (CheckSubject::Answer(from), rest))
    }

    fn part_of_answer(
        &mut self,
        word: &str,
        argument: &str,
        text: &str,
        place: Span,
    ) -> Option<AnswerSource> {
        let wants = |reader: &mut Self, what: &str| {
            reader.fail(Code::BadFrom, place, format!("`{text}`: {word} needs {what}"), SHAPES)
        };
        let from = match word {
            "status" => Some(AnswerSource::Status),
            "time" => Some(AnswerSource::Time),
            "size" => Some(AnswerSource::Size),
            "body" | "data" => Some(AnswerSource::Body),
            // The parts of a server-sent event are its fields.
            "event" | "id" if argument.is_empty() => Some(AnswerSource::Header(word.to_owned())),
            "header" | "cookie" if argument.is_empty() || argument.contains(' ') => wants(self, "one name"),
            "header" => Some(AnswerSource::Header(argument.to_owned())),
            "cookie" => Some(AnswerSource::Cookie(argument.to_owned())),
            "json" if !argument.starts_with('$') => {
                let path = argument.trim_start_matches('.');
                let hint = format!("a path begins at the root: json $.{path}");
                self.fail(Code::BadPath, place, format!("`{text}`: `{argument}` is not a JSON path"), hint)
            }
            "json" => Some(AnswerSource::Json(argument.to_owned())),
            "xml" if argument.is_empty() => wants(self, "an XPath"),
            "xml" => Some(AnswerSource::Xml(argument.to_owned())),
            "css" if argument.is_empty() => wants(self, "a selector"),
            "css" => Some(css(argument)),
            "regex" => self.regex(argument, text, place),
            _ => self.unknown_part(word, text, place),
        }?;
        // Only the extractor can decide whether a path, selector or expression is valid.
        if let Err(error) = Extractor::parse(&from.text()) {
            self.out.push(Diagnostic::from_error(error, place));
            return None;
        }
        Some(from)
    }

    fn regex(&mut self, argument: &str, text: &str, place: Span) -> Option<AnswerSource> {
        let inside = argument.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
        match inside {
            Some((pattern, _)) if !pattern.is_empty() => Some(AnswerSource::Regex(argument.to_owned())),
            _ => {
                let message = format!("`{text}`: a regular expression is written between slashes");
                self.fail(Code::BadRegex, place, message, format!("regex /{}/", argument.trim_matches('/')))
            }
        }
    }

    fn unknown_part(&mut self, word: &str, text: &str, place: Span) -> Option<AnswerSource> {
        let lower = word.to_ascii_lowercase();
        let hint = match lower.as_str() {
            _ if OF_RUN.contains(&lower.as_str()) => "use it under thresholds:, for the whole run".to_owned(),
            "code" | "status_code" | "statuscode" => "status = 200".to_owned(),
            "duration" | "latency" | "response_time" => "time < 1s".to_owned(),
            "jsonpath" | "$" => "json $.path = VALUE".to_owned(),
            "xpath" => "xml //path = VALUE".to_owned(),
            "headers" => "header NAME = VALUE".to_owned(),
            "length" | "content_length" => "size > 1kB".to_owned(),
            "text" | "content" | "response" => "body contains TEXT".to_owned(),
            _ if word.starts_with("$.") || word.starts_with("$[") => format!("json {text}"),
            _ if word.starts_with("//") => format!("xml {text}"),
            _ => match did_you_mean(word, PARTS) {
                Some(near) => format!("did you mean {near}?"),
                None => SHAPES.to_owned(),
            },
        };
        self.fail(Code::ConditionSubject, place, format!("`{text}`: a response has no `{word}`"), hint)
    }
}

/// Splits `a.next@href` into selector and attribute.
fn css(argument: &str) -> AnswerSource {
    match argument.rsplit_once('@') {
        Some((selector, attribute)) if super::is_identifier(attribute) && !selector.trim().is_empty() => {
            AnswerSource::Css { selector: selector.trim().to_owned(), attribute: Some(attribute.to_owned()) }
        }
        _ => AnswerSource::Css { selector: argument.to_owned(), attribute: None },
    }
}

/// Returns the end of a regular expression: after its closing slash and flags.
fn regex_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '/' if !escaped => {
                let flags = text[at + 1..].chars().take_while(char::is_ascii_lowercase).count();
                return at + 1 + flags;
            }
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// Returns the start of the comparison, outside brackets and quotes. For selectors it is the last
/// one, because they have `>` of their own.
fn operator_at(text: &str, last: bool) -> usize {
    let (mut depth, mut found) = (0_usize, text.len());
    for (at, letter) in unquoted_chars(text) {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && begins_operator(&text[at + 1..]) => {
                found = at;
                if !last {
                    return found;
                }
            }
            _ => {}
        }
    }
    found
}

fn begins_operator(text: &str) -> bool {
    let word = text.split(' ').next().unwrap_or_default();
    word == "contains" || word == "matches" || OPERATORS.iter().any(|(symbol, _)| word.starts_with(symbol))
}
