//! [`Parser`]: the context of all parsers.

use wavetank_grammar::{Diagnostics, Grammar as _, Span, Spanned, TreeReader as _};
use wavetank_units::Code;

use super::{MapName, Variables};

/// The context of all parsers: the variables, and the diagnostics.
pub(crate) struct Parser<'a> {
    pub(crate) vars: &'a Variables,
    pub(crate) env: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) has_secret: &'a dyn Fn(&str) -> bool,
    pub(crate) out: Diagnostics,
    /// Bytes and values that variables may still bring into the file.
    pub(crate) budget: ExpansionBudget,
    /// The method of the last gRPC call that was opened in the current list of steps.
    pub(crate) open_call: Option<Spanned<String>>,
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
        self.fail(Code::FileTooLarge, place, message, MapName::ADVICE.long)
    }
}
