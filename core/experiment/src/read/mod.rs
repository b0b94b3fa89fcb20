//! The tree to the parsed form: every key, every verb, every rule; all mistakes told, not only the first.
//!
//! Each part has a module. A reader's function returns `None` after it has said why.

mod body;
mod check;
mod data;
mod experiment;
mod expression;
mod http;
mod keys;
mod phase;
mod phase_rules;
mod proxy;
mod quantity;
mod quotes;
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
mod words;

pub(crate) use check::OPERATORS;
pub(crate) use experiment::read_experiment;
pub(crate) use quotes::outside;
pub(crate) use vars::Vars;
pub(crate) use words::is_word;

use crate::{Diagnostic, Diagnostics, Place};

/// What every part is handed: the variables, and where to tell mistakes.
pub(crate) struct Reader<'a> {
    pub(crate) vars: &'a Vars,
    pub(crate) env: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) has_secret: &'a dyn Fn(&str) -> bool,
    pub(crate) out: Diagnostics,
    /// Bytes and values that variables may still bring into the file.
    pub(crate) budget: Budget,
}

/// What variables may bring into a file: a short file of variables inside variables could fill any memory.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    /// Bytes of text.
    pub(crate) text: usize,
    /// Values, used whole.
    pub(crate) nodes: usize,
}

impl Budget {
    pub(crate) const WHOLE: Self = Self { text: 16 << 20, nodes: 500_000 };
}

impl Reader<'_> {
    /// More mistakes are told than are kept: further ones are only counted, and looking for what was meant costs.
    pub(crate) fn advice_is_wasted(&self) -> bool {
        self.out.left_out() > 0
    }

    /// Takes text that a variable stands for out of the budget.
    pub(crate) fn spend_text(&mut self, bytes: usize, place: Place) -> Option<()> {
        let Some(left) = self.budget.text.checked_sub(bytes) else { return self.too_large(place) };
        self.budget.text = left;
        Some(())
    }

    /// Takes values that a variable stands for out of the budget.
    pub(crate) fn spend_nodes(&mut self, nodes: usize, place: Place) -> Option<()> {
        let Some(left) = self.budget.nodes.checked_sub(nodes) else { return self.too_large(place) };
        self.budget.nodes = left;
        Some(())
    }

    fn too_large<T>(&mut self, place: Place) -> Option<T> {
        let message = "variables bring more into the file than anybody could have written";
        let hint = "rows of data belong into a file of their own: data: {NAME: {file: rows.csv}}";
        self.fail("file_too_large", place, message, hint)
    }

    /// Tells a mistake and returns `None`, for `return reader.fail(…)`.
    pub(crate) fn fail<T>(
        &mut self,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Option<T> {
        self.out.push(Diagnostic::error(code, place, message, hint));
        None
    }
}
