//! [`Value`]: a typed value with templates inside.

use super::Template;

/// A JSON value with templates as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number in JSON notation, with its digits as given.
    Number(String),
    /// Text; a template that is the whole value keeps the type of its variable.
    Text(Template),
    /// A list.
    List(Vec<Self>),
    /// Names and values, in order.
    Map(Vec<(String, Self)>),
}
