//! [`Condition::parse`]: `p99 < 250ms in main for 10s` as a person writes it.

use wavetank_units::quantity::parse_duration_positive;
use wavetank_units::{Code, Nanos, UserError};

use super::foreign::translated;
use super::subject::parse_subject;
use super::value::parse_value;
use super::{Condition, Op};

/// The form of a condition, for hints.
const SHAPE: &str = "SUBJECT OP VALUE [in PHASE] [for WINDOW]: p99 < 250ms, failed < 0.1% in main";

impl Condition {
    /// Parses one condition. Whether its step and phase exist is checked later, against the plan.
    ///
    /// # Errors
    /// A usage error (exit 2) with the nearest valid text as hint. The causes are an unknown
    /// subject, a missing or wrong comparison, a value with a unit that does not fit the subject,
    /// and a host that is not sampled.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return Err(UserError::usage(Code::ConditionEmpty, "a condition is empty", SHAPE));
        }
        let (subject, op, rest) = split_at_op(&text)?;
        let (subject, kind) = parse_subject(subject).map_err(|error| {
            let hint = translated(subject, op, rest).map(|own| format!("{own}?"));
            about(&text, UserError { hint: hint.unwrap_or(error.hint.clone()), ..error })
        })?;
        let tail = Tail::parse(rest, &text)?;
        let value = parse_value(tail.value, kind, op).map_err(|error| about(&text, error))?;
        Ok(Self { subject, op, value, phase: tail.phase, window: tail.window, text })
    }
}

/// Puts the whole condition before an error about a part of it.
fn about(text: &str, error: UserError) -> UserError {
    UserError { message: format!("`{text}`: {}", error.message), ..error }
}

/// Splits `text` at the comparison operator. Parentheses are skipped, because a step's name may
/// contain any character of the operator.
fn split_at_op(text: &str) -> Result<(&str, Op, &str), UserError> {
    let mut depth = 0_u32;
    let mut start = None;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '=' | '!' | '<' | '>' | '≤' | '≥' if depth == 0 => {
                start = Some(at);
                break;
            }
            _ => {}
        }
    }
    let Some(start) = start else { return Err(no_op(text, depth)) };
    let rest = &text[start..];
    let length = rest.find(|c: char| !"=!<>≤≥".contains(c)).unwrap_or(rest.len());
    let (word, value) = rest.split_at(length);
    if start == 0 {
        let hint = format!("a condition starts with its subject: status(500) {text}, failed {text}");
        return Err(UserError::usage(Code::ConditionSubject, format!("`{text}` has no subject"), hint));
    }
    Ok((text[..start].trim(), op(word, text)?, value.trim()))
}

fn op(word: &str, text: &str) -> Result<Op, UserError> {
    let meant = match word {
        "=" => return Ok(Op::Equal),
        "!=" => return Ok(Op::NotEqual),
        "<" => return Ok(Op::Less),
        "<=" => return Ok(Op::LessEqual),
        ">" => return Ok(Op::Greater),
        ">=" => return Ok(Op::GreaterEqual),
        "==" | "===" => "=",
        "=<" | "≤" => "<=",
        "=>" | "≥" => ">=",
        "<>" | "!==" | "!" => "!=",
        _ => "one of = != < <= > >=",
    };
    let message = format!("`{text}`: `{word}` is not a comparison operator");
    Err(UserError::usage(Code::ConditionOp, message, format!("{meant}?")))
}

fn no_op(text: &str, depth: u32) -> UserError {
    if depth > 0 {
        let hint = "close the parenthesis: p99(connect) < 1s";
        return UserError::usage(
            Code::ConditionSubject,
            format!("`{text}` has an unclosed parenthesis"),
            hint,
        );
    }
    let textual = text.split(' ').any(|word| word == "contains" || word == "matches");
    if textual {
        let hint = "thresholds compare numbers: = != < <= > >=";
        return UserError::usage(Code::ConditionOp, format!("`{text}` compares text"), hint);
    }
    let hint = match text.split_once(' ') {
        Some((subject, value)) if !value.contains(' ') => format!("{subject} < {value}?"),
        _ => SHAPE.to_owned(),
    };
    UserError::usage(Code::ConditionOp, format!("`{text}` has no comparison operator"), hint)
}

/// The text after the comparison operator.
struct Tail<'t> {
    value: &'t str,
    phase: Option<String>,
    window: Option<Nanos>,
}

impl<'t> Tail<'t> {
    fn parse(rest: &'t str, text: &str) -> Result<Self, UserError> {
        let words: Vec<&str> = rest.split(' ').collect();
        let clause = words.iter().position(|word| *word == "in" || *word == "for").unwrap_or(words.len());
        let value_len = words[..clause].iter().map(|word| word.len() + 1).sum::<usize>().saturating_sub(1);
        let mut tail = Self { value: &rest[..value_len], phase: None, window: None };
        let mut clauses = words[clause..].iter();
        while let Some(word) = clauses.next() {
            let argument = clauses.next().copied();
            match (*word, argument) {
                ("in", Some(phase)) if tail.phase.is_none() => tail.phase = Some(phase.to_owned()),
                ("for", Some(window)) if tail.window.is_none() => {
                    tail.window = Some(self::window(window, text)?);
                }
                ("in", None) => return Err(dangling(text, "in", "a phase: in main")),
                ("for", None) => return Err(dangling(text, "for", "a time: for 10s")),
                (other, _) => {
                    let message = format!("`{text}`: `{other}` is unexpected");
                    return Err(UserError::usage(Code::ConditionTail, message, SHAPE));
                }
            }
        }
        Ok(tail)
    }
}

fn dangling(text: &str, word: &str, wants: &str) -> UserError {
    UserError::usage(
        Code::ConditionTail,
        format!("`{text}`: nothing follows `{word}`"),
        format!("{word} needs {wants}"),
    )
}

/// Parses a window. It slides by one second over complete intervals, so it must be whole seconds.
fn window(word: &str, text: &str) -> Result<Nanos, UserError> {
    let window = parse_duration_positive(word).map_err(|error| about(text, error))?;
    if window.0 % Nanos::SECOND.0 != 0 {
        let message = format!("`{text}`: a window of {window} is not whole seconds");
        return Err(UserError::usage(Code::ConditionWindow, message, "for example: for 10s"));
    }
    Ok(window)
}
