//! [`JsonType`] and [`ValueRef`]: a value of a variable, as its text and the type of that text.

use serde::{Deserialize, Serialize};
use wavetank_units::Number;

/// The type of a value. Its text always exists. The type decides how a typed body such as JSON
/// shows it: a template that is a whole value keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum JsonType {
    /// Text, or bytes.
    #[default]
    Text,
    /// A number in JSON notation.
    Number,
    /// `true` or `false`.
    Bool,
    /// `null`.
    Null,
    /// An array or object, as JSON text.
    Json,
}

/// A value, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueRef<'a> {
    /// Its type.
    pub kind: JsonType,
    /// Its text.
    pub text: &'a [u8],
}

impl ValueRef<'_> {
    /// Returns the text as a number, whatever its type: `"12"` compares like 12.
    pub fn as_number(&self) -> Option<Number> {
        Number::parse(std::str::from_utf8(self.text).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_a_number_compares_as_one() {
        let check = |text: &str, expected| {
            let found = ValueRef { kind: JsonType::Text, text: text.as_bytes() }.as_number();
            assert_eq!(found.map(Number::as_f64), expected, "{text}");
        };
        check("12", Some(12.0));
        check(" -1.5e2 ", Some(-150.0));
        check("", None);
        check("1k", None);
        check("inf", None);
        check("nan", None);
    }
}
