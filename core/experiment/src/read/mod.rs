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
}

impl Reader<'_> {
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
