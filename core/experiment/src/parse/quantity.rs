//! Quantities that occur only in experiments.

use wavetank_grammar::{Node, Spanned};
use wavetank_plan::Condition;
use wavetank_units::quantity::parse_rate_positive;
use wavetank_units::{Code, Rate, UserError};

use super::{Parser, TreeReader as _};

impl Parser<'_> {
    /// Reads a small count, such as the number of pipelined requests.
    pub(crate) fn small_count(&mut self, node: &Node) -> Option<u32> {
        let count = self.count(node)?;
        let Ok(small) = u32::try_from(count.value) else {
            let message = format!("{} is too large", count.value);
            return self.fail(Code::Overflow, count.place, message, "for example 5");
        };
        Some(small)
    }

    /// Reads the maximum number of redirects, which a plan stores in one byte.
    pub(crate) fn redirects(&mut self, node: &Node) -> Option<u32> {
        let count = self.count(node)?;
        let Ok(few) = u8::try_from(count.value) else {
            let message = format!("{} redirects are too many", count.value);
            return self.fail(Code::Overflow, count.place, message, "for example 5; at most 255");
        };
        Some(few.into())
    }

    pub(crate) fn rate(&mut self, node: &Node) -> Option<Spanned<Rate>> {
        self.quantity(node, "a rate", parse_rate_positive)
    }

    /// Reads a condition on the run.
    pub(crate) fn condition(&mut self, node: &Node) -> Option<Spanned<Condition>> {
        if let Some([entry, ..]) = node.entries() {
            let message = format!("a condition is text, not a map with `{}`", entry.key);
            let hint = "in a list, for example: thresholds: [p95 < 500ms, failed < 1%]";
            return self.fail(Code::NotAValue, node.place, message, hint);
        }
        self.quantity(node, "a condition", |text| {
            Condition::parse(text).map_err(|error| of_answer(text, error))
        })
    }
}

/// Adds a hint if the subject is a property of one response.
fn of_answer(text: &str, error: UserError) -> UserError {
    let first = text.split([' ', '<', '>', '=', '!']).next().unwrap_or_default();
    let hint = match first {
        "body" | "header" | "cookie" | "json" | "xml" | "css" | "regex" => {
            "use it under check: of a step; its failures are check(NAME) here"
        }
        "size" => "use it under check: of a step",
        _ => return error,
    };
    UserError::usage(
        Code::ConditionSubject,
        format!("`{text}`: `{first}` is a property of one response"),
        hint,
    )
}
