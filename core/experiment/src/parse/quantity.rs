//! Quantities that only experiments have.

use wavetank_plan::quantity::parse_rate_positive;
use wavetank_plan::{Condition, Rate, UserError};

use super::{Parser, TreeReader as _};
use crate::{Node, Spanned};

impl Parser<'_> {
    /// A small count, such as requests in a pipeline.
    pub(crate) fn small_count(&mut self, node: &Node) -> Option<u32> {
        let count = self.count(node)?;
        let Ok(small) = u32::try_from(count.value) else {
            let message = format!("{} is too large", count.value);
            return self.fail("overflow", count.place, message, "for example 5");
        };
        Some(small)
    }

    /// How many redirects are followed: the plan keeps them in a byte.
    pub(crate) fn redirects(&mut self, node: &Node) -> Option<u32> {
        let count = self.count(node)?;
        let Ok(few) = u8::try_from(count.value) else {
            let message = format!("{} redirects are too many", count.value);
            return self.fail("overflow", count.place, message, "for example 5; at most 255");
        };
        Some(few.into())
    }

    pub(crate) fn rate(&mut self, node: &Node) -> Option<Spanned<Rate>> {
        self.quantity(node, "a rate", parse_rate_positive)
    }

    /// A condition on the run.
    pub(crate) fn condition(&mut self, node: &Node) -> Option<Spanned<Condition>> {
        self.quantity(node, "a condition", |text| {
            Condition::parse(text).map_err(|error| of_answer(text, error))
        })
    }
}

/// What only one answer has cannot be asked of a run.
fn of_answer(text: &str, error: UserError) -> UserError {
    let first = text.split([' ', '<', '>', '=', '!']).next().unwrap_or_default();
    let hint = match first {
        "body" | "header" | "cookie" | "json" | "xml" | "css" | "regex" => {
            "use it under check: of a step; its failures are check(NAME) here"
        }
        "size" => "use it under check: of a step",
        _ => return error,
    };
    UserError::usage("condition_subject", format!("`{text}`: `{first}` is a property of one response"), hint)
}
