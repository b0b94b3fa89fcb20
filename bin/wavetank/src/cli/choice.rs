//! [`Choice`]: parses one of a few names. Completions, manual pages and help list the names.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use wavetank_units::{Code, UserError, did_you_mean};

/// A closed set of values, each with its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice<T: 'static> {
    known: &'static [(&'static str, T)],
    /// Names that only later versions support.
    later: &'static [&'static str],
    /// Parses what is not in the table; `None` for the usual error.
    other: fn(&str) -> Option<Result<T, UserError>>,
}

impl<T: Copy> Choice<T> {
    /// Creates a parser of these names. Messages list them in this order.
    pub(crate) const fn new(known: &'static [(&'static str, T)]) -> Self {
        Self { known, later: &[], other: |_| None }
    }

    /// Adds names that only later versions support.
    pub(crate) const fn later(self, later: &'static [&'static str]) -> Self {
        Self { later, ..self }
    }

    /// Adds a parser of other spellings, or of names with an error of their own.
    pub(crate) const fn or(self, other: fn(&str) -> Option<Result<T, UserError>>) -> Self {
        Self { other, ..self }
    }

    /// Parses a name. The error does not name the option.
    pub(crate) fn parse(&self, text: &str) -> Result<T, UserError> {
        if let Some((_, value)) = self.known.iter().find(|(name, _)| *name == text) {
            return Ok(*value);
        }
        (self.other)(text).unwrap_or_else(|| Err(self.unknown(text)))
    }

    fn unknown(&self, text: &str) -> UserError {
        let names: Vec<&str> = self.known.iter().map(|(name, _)| *name).collect();
        if self.later.contains(&text) {
            let message = format!("`{text}` is not supported in this version");
            return UserError::usage(Code::ValueLater, message, format!("supported: {}", names.join(", ")));
        }
        let hint = match did_you_mean(text, names.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => names.join(" or "),
        };
        UserError::usage(Code::ValueUnknown, format!("`{text}` is not one of {}", names.join(", ")), hint)
    }
}

impl<T: Copy + Send + Sync> TypedValueParser for Choice<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let own = *self;
        (move |text: &str| own.parse(text)).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.known.iter().map(|(name, _)| PossibleValue::new(*name))))
    }
}
