//! [`TreeReader`]: what every reader of a tree does: read single values, quantities and lists, and
//! report mistakes.

use wavetank_units::quantity::{
    parse_count, parse_count_positive, parse_duration, parse_duration_positive, parse_size,
};
use wavetank_units::{Code, Nanos, UserError, did_you_mean};

use crate::{Diagnostic, Diagnostics, Entry, Node, NodeKind, Scalar, Span, Spanned};

/// A reader of a tree. Its functions return `None` after reporting a diagnostic.
pub trait TreeReader: Sized {
    /// All diagnostics so far.
    fn out(&mut self) -> &mut Diagnostics;

    /// Returns the text of a single value at `place` with variables filled in; unchanged if the
    /// grammar has no variables.
    fn fixed(&mut self, text: &str, place: Span) -> Option<String> {
        let _ = place;
        Some(text.to_owned())
    }

    /// Reports a mistake and returns `None`, for `return reader.fail(…)`.
    fn fail<T>(
        &mut self,
        code: Code,
        place: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Option<T> {
        self.out().push(Diagnostic::error(code, place, message, hint));
        None
    }

    /// Whether further mistakes are only counted and not kept. Searching for suggestions would then
    /// be wasted time.
    fn advice_is_wasted(&mut self) -> bool {
        self.out().omitted() > 0
    }

    /// Reads the text of a single value. `what` names the expected kind: "a duration".
    fn text(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        let scalar = self.scalar(node, what)?;
        self.fixed(&scalar.text, node.place).map(|text| Spanned::new(text, node.place))
    }

    /// A single value as written.
    fn scalar<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n Scalar> {
        match &node.kind {
            NodeKind::Scalar(_) if node.is_null() => {
                let message = format!("{what} is missing here");
                self.fail(Code::ValueMissing, node.place, message, "write one, or leave the key out")
            }
            NodeKind::Scalar(scalar) => Some(scalar),
            NodeKind::Map(_) | NodeKind::List(_) => {
                let message = format!("{what} must be a single value, not {}", node.what());
                let hint = "quote text that has a colon or starts with a bracket";
                self.fail(Code::NotAValue, node.place, message, hint)
            }
        }
    }

    /// Names and texts, one or several.
    fn texts(&mut self, node: &Node, what: &str) -> Vec<Spanned<String>> {
        self.each(node, |reader, item| reader.text(item, what))
    }

    /// Reads one of a closed set of keywords.
    fn one_of<T: Copy>(&mut self, node: &Node, what: &str, words: &[(&str, T)]) -> Option<T> {
        let word = self.text(node, what)?;
        if let Some((_, value)) = words.iter().find(|(known, _)| *known == word.value) {
            return Some(*value);
        }
        let known = || words.iter().map(|(known, _)| *known);
        let hint = match did_you_mean(&word.value, known()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("one of: {}", known().collect::<Vec<_>>().join(", ")),
        };
        self.fail(Code::WordUnknown, word.place, format!("`{}` is not a valid {what}", word.value), hint)
    }

    /// `true` or `false`.
    fn bool(&mut self, node: &Node) -> Option<bool> {
        let word = self.text(node, "true or false")?;
        let hint = match word.value.to_ascii_lowercase().as_str() {
            "true" if word.value == "true" => return Some(true),
            "false" if word.value == "false" => return Some(false),
            "true" | "yes" | "on" | "y" | "1" => "true?",
            "false" | "no" | "off" | "n" | "0" => "false?",
            _ => "true or false",
        };
        self.fail(Code::NotABool, word.place, format!("`{}` is not true or false", word.value), hint)
    }

    /// A single value, read by `parse`.
    fn quantity<T>(
        &mut self,
        node: &Node,
        what: &str,
        parse: impl FnOnce(&str) -> Result<T, UserError>,
    ) -> Option<Spanned<T>> {
        let text = self.text(node, what)?;
        match parse(&text.value) {
            Ok(value) => Some(Spanned::new(value, text.place)),
            Err(error) => {
                self.out().push(Diagnostic::from_error(error, text.place));
                None
            }
        }
    }

    /// A duration.
    fn duration(&mut self, node: &Node) -> Option<Spanned<Nanos>> {
        self.quantity(node, "a duration", sexagesimal)
    }

    /// A duration that is not nothing.
    fn duration_positive(&mut self, node: &Node) -> Option<Spanned<Nanos>> {
        self.quantity(node, "a duration", |text| {
            sexagesimal(text).and_then(|_| parse_duration_positive(text))
        })
    }

    /// A count.
    fn count(&mut self, node: &Node) -> Option<Spanned<u64>> {
        self.quantity(node, "a count", parse_count)
    }

    /// A count that is not 0.
    fn count_positive(&mut self, node: &Node) -> Option<Spanned<u64>> {
        self.quantity(node, "a count", parse_count_positive)
    }

    /// A size in bytes.
    fn size(&mut self, node: &Node) -> Option<Spanned<u64>> {
        self.quantity(node, "a size", parse_size)
    }

    /// The entries of a map with names of the user's choosing.
    fn entries<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Entry] {
        if let NodeKind::Map(entries) = &node.kind {
            return entries;
        }
        let message = format!("{what} must be a map of names and values, not {}", node.what());
        self.fail::<()>(Code::NotAMap, node.place, message, "write NAME: VALUE, one on each line");
        &[]
    }

    /// The items of a list.
    fn list<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        if let NodeKind::List(items) = &node.kind {
            return items;
        }
        let message = format!("{what} must be a list, not {}", node.what());
        self.fail::<()>(Code::NotAList, node.place, message, "start each item with a dash: - …");
        &[]
    }

    /// Each item of a list or one alone, read by `read`; what cannot be read is left out.
    fn each<T>(&mut self, node: &Node, mut read: impl FnMut(&mut Self, &Node) -> Option<T>) -> Vec<T> {
        node.as_list().iter().filter_map(|item| read(self, item)).collect()
    }

    /// Each item of a list, read by `read`; what cannot be read is left out.
    fn each_listed<T>(
        &mut self,
        node: &Node,
        what: &str,
        mut read: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Vec<T> {
        self.list(node, what).iter().filter_map(|item| read(self, item)).collect()
    }
}

/// `10:30` is ten and a half minutes to some readers of YAML, and text to others.
fn sexagesimal(text: &str) -> Result<Nanos, UserError> {
    parse_duration(text).map_err(|error| match text.split_once(':') {
        Some((minutes, seconds)) if !minutes.is_empty() && !seconds.is_empty() => UserError::usage(
            Code::UnitMissing,
            format!("`{text}`: a duration needs units"),
            format!("{minutes}m{seconds}s?"),
        ),
        _ => error,
    })
}
