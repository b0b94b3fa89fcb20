//! Calls the functions of the core library (XPath 1.0 §4).

use super::eval::{Context, Eval, EvalError, XPathValue};
use super::expr::Expr;
use super::function::Function;
use super::number::round;
use super::tree::NodeKind;

impl Function {
    pub(super) fn call(
        self,
        arguments: &[Expr],
        eval: &mut Eval<'_>,
        place: Context,
    ) -> Result<XPathValue, EvalError> {
        let mut number = |at: usize| eval.expr(&arguments[at], place).and_then(|val| eval.number(val));
        Ok(match self {
            Self::Last => XPathValue::Number(place.size as f64),
            Self::Position => XPathValue::Number(place.position as f64),
            Self::True => XPathValue::Bool(true),
            Self::False => XPathValue::Bool(false),
            Self::Floor => XPathValue::Number(number(0)?.floor()),
            Self::Ceiling => XPathValue::Number(number(0)?.ceil()),
            Self::Round => XPathValue::Number(round(number(0)?)),
            Self::Boolean | Self::Not => {
                let truth = eval.expr(&arguments[0], place)?.to_bool();
                XPathValue::Bool(truth == (self == Self::Boolean))
            }
            Self::Count => XPathValue::Number(nodes(arguments, eval, place)?.len() as f64),
            Self::Sum => {
                let mut sum = 0.0;
                for node in nodes(arguments, eval, place)? {
                    sum += super::number::text_number(&eval.string_value(node)?);
                }
                XPathValue::Number(sum)
            }
            Self::Name | Self::LocalName => {
                let node = if arguments.is_empty() {
                    Some(place.node)
                } else {
                    nodes(arguments, eval, place)?.first().copied()
                };
                let named = |kind| !matches!(kind, NodeKind::Text | NodeKind::Comment | NodeKind::Root);
                let name =
                    node.filter(|node| named(eval.tree.kind(*node))).map_or("", |node| eval.tree.name(node));
                let local = name.rsplit_once(':').map_or(name, |(_, local)| local);
                XPathValue::Text(if self == Self::Name { name } else { local }.to_owned())
            }
            Self::Number if arguments.is_empty() => {
                XPathValue::Number(super::number::text_number(&eval.string_value(place.node)?))
            }
            Self::Number => XPathValue::Number(number(0)?),
            _ => return self.on_texts(arguments, eval, place),
        })
    }

    fn on_texts(
        self,
        arguments: &[Expr],
        eval: &mut Eval<'_>,
        place: Context,
    ) -> Result<XPathValue, EvalError> {
        let mut texts: Vec<String> = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let val = eval.expr(argument, place)?;
            let text = match (self, texts.len()) {
                // The numbers of substring() are not converted to text, which would lose precision.
                (Self::Substring, 1 | 2) => return substring(&texts[0], val, arguments, eval, place),
                _ => eval.text(val)?,
            };
            texts.push(text);
        }
        if texts.is_empty() {
            texts.push(eval.string_value(place.node)?);
        }
        let first = texts[0].as_str();
        let second = texts.get(1).map_or("", String::as_str);
        Ok(match self {
            Self::Concat => {
                // The length is charged before the text is built: nested calls can double it each
                // time.
                eval.charge(texts.iter().map(String::len).sum())?;
                XPathValue::Text(texts.concat())
            }
            Self::StartsWith => XPathValue::Bool(first.starts_with(second)),
            Self::Contains => XPathValue::Bool(first.contains(second)),
            Self::SubstringBefore => {
                XPathValue::Text(first.split_once(second).map_or("", |(before, _)| before).to_owned())
            }
            Self::SubstringAfter => {
                XPathValue::Text(first.split_once(second).map_or("", |(_, after)| after).to_owned())
            }
            Self::StringLength => XPathValue::Number(first.chars().count() as f64),
            Self::NormalizeSpace => {
                let words: Vec<_> =
                    first.split([' ', '\t', '\r', '\n']).filter(|word| !word.is_empty()).collect();
                XPathValue::Text(words.join(" "))
            }
            Self::Translate => {
                eval.charge(first.len().saturating_mul(second.len()) / 16)?;
                let to: Vec<char> = texts[2].chars().collect();
                let changed =
                    first.chars().filter_map(|one| match second.chars().position(|from| from == one) {
                        Some(at) => to.get(at).copied(),
                        None => Some(one),
                    });
                XPathValue::Text(changed.collect())
            }
            _ => XPathValue::Text(texts.swap_remove(0)),
        })
    }
}

/// `substring()` counts characters from 1 and rounds its numbers. NaN selects nothing.
fn substring(
    text: &str,
    start: XPathValue,
    arguments: &[Expr],
    eval: &mut Eval<'_>,
    place: Context,
) -> Result<XPathValue, EvalError> {
    let start = round(eval.number(start)?);
    let end = match arguments.get(2) {
        Some(length) => {
            let length = eval.expr(length, place)?;
            start + round(eval.number(length)?)
        }
        None => f64::INFINITY,
    };
    let letters = text.chars().enumerate();
    let inside = letters.filter(|(at, _)| (at + 1) as f64 >= start && ((at + 1) as f64) < end);
    Ok(XPathValue::Text(inside.map(|(_, one)| one).collect()))
}

fn nodes(
    arguments: &[Expr],
    eval: &mut Eval<'_>,
    place: Context,
) -> Result<Vec<super::tree::NodeId>, EvalError> {
    match eval.expr(&arguments[0], place)? {
        XPathValue::Nodes(nodes) => Ok(nodes),
        _ => Err(EvalError::NotNodes),
    }
}
