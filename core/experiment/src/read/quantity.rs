//! Quantities: the readers of core/plan at a place of the file.

use wavetank_plan::quantity::{
    parse_count, parse_count_positive, parse_duration, parse_duration_positive, parse_rate_positive,
    parse_size,
};
use wavetank_plan::{Condition, Nanos, Rate, UserError};

use super::Reader;
use crate::{At, Diagnostic, Node};

impl Reader<'_> {
    /// A single value, read by `parse`.
    pub(crate) fn quantity<T>(
        &mut self,
        node: &Node,
        what: &str,
        parse: impl FnOnce(&str) -> Result<T, UserError>,
    ) -> Option<At<T>> {
        let text = self.text(node, what)?;
        match parse(&text.value) {
            Ok(value) => Some(At::new(value, text.place)),
            Err(error) => {
                self.out.push(Diagnostic::of(error, text.place));
                None
            }
        }
    }

    pub(crate) fn duration(&mut self, node: &Node) -> Option<At<Nanos>> {
        self.quantity(node, "a duration", sexagesimal)
    }

    pub(crate) fn duration_positive(&mut self, node: &Node) -> Option<At<Nanos>> {
        self.quantity(node, "a duration", |text| {
            sexagesimal(text).and_then(|_| parse_duration_positive(text))
        })
    }

    pub(crate) fn count(&mut self, node: &Node) -> Option<At<u64>> {
        self.quantity(node, "a count", parse_count)
    }

    pub(crate) fn count_positive(&mut self, node: &Node) -> Option<At<u64>> {
        self.quantity(node, "a count", parse_count_positive)
    }

    /// A small count, such as requests in a pipeline.
    pub(crate) fn small(&mut self, node: &Node) -> Option<u32> {
        let count = self.count(node)?;
        let Ok(small) = u32::try_from(count.value) else {
            let message = format!("{} is more than anybody needs", count.value);
            return self.fail("overflow", count.place, message, "for example 5");
        };
        Some(small)
    }

    /// How many redirects are followed: the plan keeps them in a byte.
    pub(crate) fn redirects(&mut self, node: &Node) -> Option<u32> {
        let count = self.count(node)?;
        let Ok(few) = u8::try_from(count.value) else {
            let message = format!("{} redirects are more than anybody follows", count.value);
            return self.fail("overflow", count.place, message, "for example 5; 255 at most");
        };
        Some(few.into())
    }

    pub(crate) fn rate(&mut self, node: &Node) -> Option<At<Rate>> {
        self.quantity(node, "a rate", parse_rate_positive)
    }

    pub(crate) fn size(&mut self, node: &Node) -> Option<At<u64>> {
        self.quantity(node, "a size", parse_size)
    }

    /// A condition on the run.
    pub(crate) fn condition(&mut self, node: &Node) -> Option<At<Condition>> {
        self.quantity(node, "a condition", |text| {
            Condition::parse(text).map_err(|error| of_answer(text, error))
        })
    }
}

/// `10:30` is ten and a half minutes to some readers of YAML, and text to others.
fn sexagesimal(text: &str) -> Result<Nanos, UserError> {
    parse_duration(text).map_err(|error| match text.split_once(':') {
        Some((minutes, seconds)) if !minutes.is_empty() && !seconds.is_empty() => UserError::usage(
            "unit_missing",
            format!("`{text}`: a duration needs units"),
            format!("{minutes}m{seconds}s?"),
        ),
        _ => error,
    })
}

/// What only one answer has cannot be asked of a run.
fn of_answer(text: &str, error: UserError) -> UserError {
    let first = text.split([' ', '<', '>', '=', '!']).next().unwrap_or_default();
    let hint = match first {
        "body" | "header" | "cookie" | "json" | "xml" | "css" | "regex" => {
            "of one answer: under check: of a step; its failures are check(NAME) here"
        }
        "size" => "of one answer: under check: of a step",
        _ => return error,
    };
    UserError::usage("condition_subject", format!("`{text}`: `{first}` is a part of one answer"), hint)
}
