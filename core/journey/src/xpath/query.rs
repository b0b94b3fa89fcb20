//! [`XPath`]: a compiled expression.

use wavetank_plan::UserError;

use super::eval::{Eval, Place, Stop, Val};
use super::expr::Expr;
use super::parse::parse;
use super::tree::Tree;
use crate::extract::Miss;
use crate::value::{Finds, Kind};

/// An expression may have so many bytes.
const XPATH_BYTES_MAX: usize = 1000;

/// An XPath 1.0 expression, compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct XPath(Expr);

impl XPath {
    /// Compiles an expression.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let bad = |why: String| {
            let hint = "XPath 1.0: `//item[1]/@sku`, `//soap:Body/*`, `count(//item)`";
            UserError::usage("extract_xml", format!("`{text}` is no XPath: {why}"), hint)
        };
        if text.len() > XPATH_BYTES_MAX {
            return Err(bad(format!("it is longer than {XPATH_BYTES_MAX} bytes")));
        }
        parse(text).map(Self).map_err(bad)
    }

    /// Adds what the expression finds in a document, up to `count_max` values: the text of each node, or the one number,
    /// text or truth it comes to.
    pub fn find(&self, tree: &Tree, count_max: usize, finds: &mut Finds) -> Result<usize, Miss> {
        let mut eval = Eval::new(tree);
        let place = Place { node: Tree::ROOT, position: 1, size: 1 };
        let miss = |stop| match stop {
            Stop::TooMuchWork => Miss::TooMuchWork,
            Stop::NotNodes => Miss::NotFound,
        };
        let fits = |added: bool| if added { Ok(()) } else { Err(Miss::TooLarge) };
        match eval.expr(&self.0, place).map_err(miss)? {
            Val::Nodes(nodes) => {
                let mut count = 0;
                for node in nodes.into_iter().take(count_max) {
                    let text = eval.string_value(node).map_err(miss)?;
                    fits(finds.push(Kind::Text, text.trim().as_bytes()))?;
                    count += 1;
                }
                Ok(count)
            }
            _ if count_max == 0 => Ok(0),
            val => {
                let kind = match &val {
                    Val::Number(number) if number.is_finite() => Kind::Number,
                    Val::Bool(_) => Kind::Bool,
                    _ => Kind::Text,
                };
                let text = eval.text(val).map_err(miss)?;
                fits(finds.push(kind, text.as_bytes()))?;
                Ok(1)
            }
        }
    }
}
