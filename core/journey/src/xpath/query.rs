//! [`XPath`]: a compiled expression.

use wavetank_units::{Code, UserError};

use super::eval::{Context, Eval, EvalError, XPathValue};
use super::expr::Expr;
use super::parse::parse;
use super::tree::Tree;
use crate::extract::ExtractError;
use crate::value::{JsonType, Values};

/// Maximum length of an expression, in bytes.
const XPATH_BYTES_MAX: usize = 1000;

/// An XPath 1.0 expression, compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct XPath(Expr);

impl XPath {
    /// Compiles an expression.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let bad = |why: String| {
            let hint = "use XPath 1.0, such as `//item[1]/@sku`, `//soap:Body/*`, `count(//item)`";
            UserError::usage(Code::ExtractXml, format!("`{text}` is not an XPath expression: {why}"), hint)
        };
        if text.len() > XPATH_BYTES_MAX {
            return Err(bad(format!("it is longer than {XPATH_BYTES_MAX} bytes")));
        }
        parse(text).map(Self).map_err(bad)
    }

    /// Adds the result of the expression in a document, up to `count_max` values: the text of each
    /// node, or the single number, text or boolean.
    pub fn find(&self, tree: &Tree, count_max: usize, finds: &mut Values) -> Result<usize, ExtractError> {
        let mut eval = Eval::new(tree);
        let place = Context { node: Tree::ROOT, position: 1, size: 1 };
        let miss = |stop| match stop {
            EvalError::TooMuchWork => ExtractError::TooMuchWork,
            EvalError::NotNodes => ExtractError::NotFound,
        };
        let fits = |added: bool| if added { Ok(()) } else { Err(ExtractError::TooLarge) };
        match eval.expr(&self.0, place).map_err(miss)? {
            XPathValue::Nodes(nodes) => {
                let mut count = 0;
                for node in nodes.into_iter().take(count_max) {
                    let text = eval.string_value(node).map_err(miss)?;
                    fits(finds.push(JsonType::Text, text.trim().as_bytes()))?;
                    count += 1;
                }
                Ok(count)
            }
            _ if count_max == 0 => Ok(0),
            val => {
                let kind = match &val {
                    XPathValue::Number(number) if number.is_finite() => JsonType::Number,
                    XPathValue::Bool(_) => JsonType::Bool,
                    _ => JsonType::Text,
                };
                let text = eval.text(val).map_err(miss)?;
                fits(finds.push(kind, text.as_bytes()))?;
                Ok(1)
            }
        }
    }
}
