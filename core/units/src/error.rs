//! [`UserError`]: what a person reads when the input was wrong.

use std::fmt;

use crate::Code;

/// How a process ends (`docs/measuring.md` §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    /// Everything held.
    Pass = 0,
    /// A threshold or check is broken, or a stop condition fired.
    Fail = 1,
    /// Usage or experiment error; nothing was sent.
    Usage = 2,
    /// Doubt about the generator could turn the verdict.
    Invalid = 3,
    /// Something is missing: an interval, an agent, a decision.
    Incomplete = 4,
    /// Not allowed, or this host cannot; nothing was sent.
    Refused = 5,
    /// SIGINT or SIGTERM.
    Signal = 130,
}

/// One clear message: what is wrong and where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserError {
    /// Stable short name, e.g. `unit_missing`, for scripts.
    pub code: Code,
    /// What is wrong, with the offending text in backticks.
    pub message: String,
    /// How to fix it; empty only if there is no useful advice.
    pub hint: String,
    /// The exit code this error leads to.
    pub exit: ExitCode,
    /// Further errors, printed after this one.
    pub others: Vec<Self>,
}

impl UserError {
    /// A usage error (exit 2).
    pub fn usage(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::of(code, message.into(), hint.into(), ExitCode::Usage)
    }

    /// A refusal (exit 5): not allowed, or this host cannot.
    pub fn refused(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::of(code, message.into(), hint.into(), ExitCode::Refused)
    }

    /// All of `errors` as one, the first of which leads; `None` if there are none.
    pub fn combine(errors: Vec<Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let first = errors.next()?;
        Some(Self { others: first.others.iter().cloned().chain(errors).collect(), ..first })
    }

    /// Splits an error that combines several into single ones.
    pub fn one_by_one(mut self) -> Vec<Self> {
        let others = std::mem::take(&mut self.others);
        std::iter::once(self).chain(others.into_iter().flat_map(Self::one_by_one)).collect()
    }

    /// Returns the error as text with its code after the message, so that the user can look it up.
    /// Further errors follow below it.
    pub fn with_code(&self) -> String {
        let hint = if self.hint.is_empty() { String::new() } else { format!("\nhint: {}", self.hint) };
        let own = format!("error: {} [{}]{hint}", self.message, self.code);
        std::iter::once(own).chain(self.others.iter().map(Self::with_code)).collect::<Vec<_>>().join("\n")
    }

    const fn of(code: Code, message: String, hint: String, exit: ExitCode) -> Self {
        Self { code, message, hint, exit, others: Vec::new() }
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", self.hint)?;
        }
        self.others.iter().try_for_each(|other| write!(f, "\n{other}"))
    }
}

impl std::error::Error for UserError {}
