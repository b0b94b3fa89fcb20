//! Converts the tree to the parsed form: every key, verb and rule. It reports all errors, not only
//! the first.
//!
//! Each part has a module. A parser function returns `None` after it has reported why.

mod body;
mod check;
mod data;
mod experiment;
mod expression;
mod http;
mod names;
mod path;
mod phase;
mod phase_rules;
mod proxy;
mod quantity;
mod request;
mod scenario;
mod span;
mod step;
mod subject;
mod target;
mod template;
mod text;
mod think;
mod value;
mod vars;

pub(crate) use check::OPERATORS;
pub(crate) use experiment::read_experiment;
pub(crate) use names::is_identifier;
pub(crate) use path::normal_path;
pub(crate) use vars::Variables;
pub(crate) use wavetank_grammar::{TreeReader, unquoted_chars};

use crate::grammar::{Grammar as _, MapName};
use crate::{Diagnostics, Span};

/// A map with fixed keys of an experiment.
pub(crate) type Keys<'n> = wavetank_grammar::MapReader<'n, MapName>;

/// The context of all parsers: the variables, and the diagnostics.
pub(crate) struct Parser<'a> {
    pub(crate) vars: &'a Variables,
    pub(crate) env: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) has_secret: &'a dyn Fn(&str) -> bool,
    pub(crate) out: Diagnostics,
    /// Bytes and values that variables may still bring into the file.
    pub(crate) budget: ExpansionBudget,
}

/// Limits on what variables may bring into a file: variables inside variables could fill any
/// memory.
#[derive(Clone, Copy)]
pub(crate) struct ExpansionBudget {
    /// Bytes of text.
    pub(crate) text: usize,
    /// Values, used whole.
    pub(crate) nodes: usize,
}

impl ExpansionBudget {
    pub(crate) const WHOLE: Self = Self { text: 16 << 20, nodes: 500_000 };
}

impl Parser<'_> {
    /// Takes the text of a variable out of the budget.
    pub(crate) fn spend_text(&mut self, bytes: usize, place: Span) -> Option<()> {
        let Some(left) = self.budget.text.checked_sub(bytes) else { return self.too_large(place) };
        self.budget.text = left;
        Some(())
    }

    /// Takes the values of a variable out of the budget.
    pub(crate) fn spend_nodes(&mut self, nodes: usize, place: Span) -> Option<()> {
        let Some(left) = self.budget.nodes.checked_sub(nodes) else { return self.too_large(place) };
        self.budget.nodes = left;
        Some(())
    }

    fn too_large<T>(&mut self, place: Span) -> Option<T> {
        let message = "variables make the file too large";
        self.fail("file_too_large", place, message, MapName::ADVICE.long)
    }
}
