//! Typed values: JSON bodies, forms, variables.

use wavetank_grammar::{Node, NodeKind};
use wavetank_units::quantity::parse_count;

use super::{Parser, TreeReader as _};
use crate::model::Value;

impl Parser<'_> {
    /// Parses any value, with templates inside. Unquoted `true`, `null` and JSON numbers have their
    /// type.
    pub(crate) fn value(&mut self, node: &Node) -> Option<Value> {
        match &node.kind {
            NodeKind::Scalar(_) if node.is_null() => Some(Value::Null),
            NodeKind::Scalar(scalar) if scalar.plain && scalar.text == "true" => Some(Value::Bool(true)),
            NodeKind::Scalar(scalar) if scalar.plain && scalar.text == "false" => Some(Value::Bool(false)),
            NodeKind::Scalar(scalar) if scalar.plain && is_number(&scalar.text) => {
                Some(Value::Number(scalar.text.clone()))
            }
            NodeKind::Scalar(scalar) => self.template_text(&scalar.text, node.place).map(Value::Text),
            NodeKind::List(items) => {
                let items: Vec<Option<Value>> = items.iter().map(|item| self.value(item)).collect();
                items.into_iter().collect::<Option<_>>().map(Value::List)
            }
            NodeKind::Map(_) => self.named_values(node, "a value").map(Value::Map),
        }
    }

    /// Reads names with values.
    pub(crate) fn named_values(&mut self, node: &Node, what: &str) -> Option<Vec<(String, Value)>> {
        let entries = self.entries(node, what);
        let all: Vec<Option<(String, Value)>> =
            entries.iter().map(|entry| Some((entry.key.clone(), self.value(&entry.value)?))).collect();
        all.into_iter().collect()
    }

    /// Reads the value of a variable. A count such as `10k` without quotes is a number.
    pub(crate) fn variable_value(&mut self, node: &Node) -> Option<Value> {
        if let NodeKind::Scalar(scalar) = &node.kind
            && scalar.plain
            && scalar.text.ends_with(['k', 'M', 'G'])
            && let Ok(count) = parse_count(&scalar.text)
        {
            return Some(Value::Number(count.to_string()));
        }
        self.value(node)
    }
}

/// Returns whether `text` is a JSON number (RFC 8259 §6). `007` and `+1` are text, so codes keep
/// their zeros.
pub(super) fn is_number(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let led = whole == "0" || (digits(whole) && !whole.starts_with('0'));
    let exponent =
        exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    led && fraction.is_none_or(digits) && exponent
}
