//! Checks of a response, such as `status = 200 or 409`, `${left} > 0` or
//! `header cache-control contains no-store`.

use wavetank_grammar::{Diagnostic, Node, Span};
use wavetank_journey::extract::Pattern;
use wavetank_units::quantity::{parse_count, parse_duration, parse_size};
use wavetank_units::{Code, Number, did_you_mean, grpc_status_from_name};

use super::value::is_number;
use super::{Parser, TreeReader as _};
use crate::model::{Alternative, AnswerSource, Check, CheckOp, CheckSubject, Operand};

/// The comparisons, longest first.
pub(crate) const OPERATORS: [(&str, CheckOp); 6] = [
    ("!=", CheckOp::NotEqual),
    ("<=", CheckOp::LessEqual),
    (">=", CheckOp::GreaterEqual),
    ("=", CheckOp::Equal),
    ("<", CheckOp::Less),
    (">", CheckOp::Greater),
];

const SHAPE: &str = "SUBJECT OP VALUE: status = 200 or 409, time < 1s, body contains ok";

impl Parser<'_> {
    /// Parses a condition on one response.
    pub(crate) fn check(&mut self, node: &Node) -> Option<Check> {
        let scalar = self.scalar(node, "a condition")?;
        let (text, place) = (scalar.text.trim(), node.place);
        let (subject, rest) = self.tested(text, place)?;
        let (op, value) = self.operator(text, rest, place)?;
        if value.is_empty() {
            return self.fail(
                Code::ConditionValue,
                place,
                format!("`{text}`: nothing follows the comparison"),
                SHAPE,
            );
        }
        self.fits(text, &subject, op, place)?;
        let expected = match op {
            CheckOp::Matches => vec![Alternative::One(Operand::Regex(self.pattern(value, place)?))],
            _ => alternatives(value)
                .into_iter()
                .map(|one| self.expected(&subject, op, one, place))
                .collect::<Option<Vec<_>>>()?,
        };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Check { text, place, subject, op, expected })
    }

    fn operator<'t>(&mut self, text: &str, rest: &'t str, place: Span) -> Option<(CheckOp, &'t str)> {
        let rest = rest.trim_start();
        for (word, op) in [("contains", CheckOp::Contains), ("matches", CheckOp::Matches)] {
            if let Some(value) =
                rest.strip_prefix(word).filter(|value| value.is_empty() || value.starts_with(' '))
            {
                return Some((op, value.trim()));
            }
        }
        let length = rest.find(|c: char| !"=!<>≤≥".contains(c)).unwrap_or(rest.len());
        let (word, value) = rest.split_at(length);
        if let Some((_, op)) = OPERATORS.iter().find(|(known, _)| *known == word) {
            return Some((*op, value.trim()));
        }
        let hint = match word {
            "==" | "===" => "=?".to_owned(),
            "=<" | "≤" => "<=?".to_owned(),
            "=>" | "≥" => ">=?".to_owned(),
            "<>" | "!==" | "!" => "!=?".to_owned(),
            _ => match did_you_mean(rest.split(' ').next().unwrap_or_default(), ["contains", "matches"]) {
                Some(near) => format!("did you mean {near}?"),
                None => "one of = != < <= > >= contains matches".to_owned(),
            },
        };
        let message = match word {
            "" => format!("`{text}` has no comparison operator"),
            _ => format!("`{text}`: `{word}` is not a comparison operator"),
        };
        self.fail(Code::ConditionOp, place, message, hint)
    }

    /// Checks that the comparison fits the subject.
    fn fits(&mut self, text: &str, subject: &CheckSubject, op: CheckOp, place: Span) -> Option<()> {
        let textual = matches!(op, CheckOp::Contains | CheckOp::Matches);
        let hint = match subject {
            CheckSubject::Answer(AnswerSource::Status | AnswerSource::Time | AnswerSource::Size)
                if textual =>
            {
                "= != < <= > >= compare numbers"
            }
            CheckSubject::Answer(AnswerSource::Body)
                if !textual && !matches!(op, CheckOp::Equal | CheckOp::NotEqual) =>
            {
                "contains, matches, = and != compare text; its length is size"
            }
            _ => return Some(()),
        };
        self.fail(
            Code::ConditionOp,
            place,
            format!("`{text}`: this comparison does not fit its subject"),
            hint,
        )
    }

    fn pattern(&mut self, value: &str, place: Span) -> Option<String> {
        // As elsewhere in conditions, quotes around the whole are not part of it.
        let value = unquoted(value).filter(|inside| !inside.contains(&value[..1])).unwrap_or(value);
        let slashed = value.strip_prefix('/').is_some_and(|rest| rest.contains('/'));
        let pattern = if slashed { value.to_owned() } else { format!("/{value}/") };
        if pattern.starts_with("//") {
            return self.fail(
                Code::BadRegex,
                place,
                "the regular expression is empty",
                "body matches /order [0-9]+/",
            );
        }
        match Pattern::parse(&pattern) {
            Ok(_) => Some(pattern),
            Err(error) => {
                self.out.push(Diagnostic::from_error(error, place));
                None
            }
        }
    }

    fn expected(
        &mut self,
        subject: &CheckSubject,
        op: CheckOp,
        text: &str,
        place: Span,
    ) -> Option<Alternative> {
        if op == CheckOp::Contains {
            return self.text_operand(text, place).map(Alternative::One);
        }
        let class = text
            .strip_suffix("xx")
            .and_then(|digit| digit.parse::<u16>().ok())
            .filter(|d| (1..=9).contains(d));
        if let (CheckSubject::Answer(AnswerSource::Status), Some(digit)) = (subject, class) {
            return Some(Alternative::Range(Operand::Code(digit * 100), Operand::Code(digit * 100 + 99)));
        }
        let quoted = text.starts_with(['"', '\'']);
        let ranged = matches!(op, CheckOp::Equal | CheckOp::NotEqual) && !quoted;
        let Some((low, high)) = text.split_once(" to ").filter(|_| ranged) else {
            return self.operand(subject, text, place).map(Alternative::One);
        };
        let (low, high) =
            (self.operand(subject, low.trim(), place)?, self.operand(subject, high.trim(), place)?);
        let backwards = match (&low, &high) {
            (Operand::Code(low), Operand::Code(high)) => low > high,
            (Operand::Time(low), Operand::Time(high)) => low > high,
            (Operand::Size(low), Operand::Size(high)) => low > high,
            (Operand::Number(low), Operand::Number(high)) => low > high,
            // Two terms with `to` between them are a text.
            _ => return self.operand(subject, text, place).map(Alternative::One),
        };
        if backwards {
            return self.fail(
                Code::BadRange,
                place,
                format!("`{text}` is reversed"),
                "write the lower value first",
            );
        }
        Some(Alternative::Range(low, high))
    }

    fn operand(&mut self, subject: &CheckSubject, text: &str, place: Span) -> Option<Operand> {
        let CheckSubject::Answer(from @ (AnswerSource::Status | AnswerSource::Time | AnswerSource::Size)) =
            subject
        else {
            return self.any_operand(text, place);
        };
        let text = self.fixed(text, place)?;
        let read = match from {
            AnswerSource::Time => parse_duration(&text).map(Operand::Time),
            AnswerSource::Size if text == "0" => Ok(Operand::Size(0)),
            AnswerSource::Size => parse_size(&text).map(Operand::Size),
            _ => {
                if let Some(code) = grpc_status_from_name(&text) {
                    return Some(Operand::Code(code));
                }
                let digits = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
                let code = text.parse::<u16>().ok().filter(|code| digits && *code >= 100);
                if code.is_none() {
                    let hint = "a code of three digits, several with or, a range with to: 200 to 399; a name of gRPC: OK";
                    return self.fail(Code::BadStatus, place, format!("`{text}` is not a status code"), hint);
                }
                return code.map(Operand::Code);
            }
        };
        match read {
            Ok(operand) => Some(operand),
            Err(error) => {
                let milliseconds = error.code == Code::UnitMissing && *from == AnswerSource::Time;
                let hint = if milliseconds { format!("{text}ms? or {text}s?") } else { error.hint.clone() };
                self.out.push(Diagnostic { hint, ..Diagnostic::from_error(error, place) });
                None
            }
        }
    }

    fn any_operand(&mut self, text: &str, place: Span) -> Option<Operand> {
        if unquoted(text).is_some() {
            return self.text_operand(text, place);
        }
        let number = Number::parse(text).filter(|_| is_number(text));
        let counted = || parse_count(text).ok().filter(|_| text.ends_with(['k', 'M', 'G'])).map(Number::from);
        match number.or_else(counted) {
            Some(number) => Some(Operand::Number(number)),
            None => self.text_operand(text, place),
        }
    }

    /// Reads a text, which may be in quotes. A number in it stays as written.
    fn text_operand(&mut self, text: &str, place: Span) -> Option<Operand> {
        self.template_text(unquoted(text).unwrap_or(text), place).map(Operand::Text)
    }
}

/// Returns the inside of a text in quotes.
fn unquoted(text: &str) -> Option<&str> {
    ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
}

/// Splits at ` or ` outside `${…}`. A value that starts with a quote ends at the next quote.
fn alternatives(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text.trim();
    loop {
        let quote = rest.chars().next().filter(|letter| matches!(letter, '"' | '\''));
        let closed = quote.and_then(|quote| rest[1..].find(quote)).map_or(0, |at| at + 2);
        let mut braces = 0_usize;
        let end = rest[closed..].char_indices().find(|(at, letter)| {
            match letter {
                '{' => braces += 1,
                '}' => braces = braces.saturating_sub(1),
                _ => {}
            }
            braces == 0 && rest[closed + at..].starts_with(" or ")
        });
        let Some((at, _)) = end else {
            all.push(rest.trim());
            return all;
        };
        all.push(rest[..closed + at].trim());
        rest = rest[closed + at + 4..].trim_start();
    }
}
