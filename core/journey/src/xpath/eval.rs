//! Evaluation of an expression with a limit on its work.

use super::axis::walk;
use super::expr::{Axis, Expr, Op, Step};
use super::number::{number_text, text_number};
use super::tree::{NodeId, Tree};

/// Maximum work of one expression on one document: nodes visited, texts compared and so on.
const WORK_MAX: usize = 20_000_000;

/// The reason why evaluation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EvalError {
    TooMuchWork,
    /// A number or text appears where nodes are needed.
    NotNodes,
}

/// A value (XPath 1.0 §1). Nodes are in document order, without duplicates.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum XPathValue {
    Nodes(Vec<NodeId>),
    Number(f64),
    Text(String),
    Bool(bool),
}

impl XPathValue {
    pub(super) fn to_bool(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
            Self::Bool(truth) => *truth,
        }
    }
}

/// The context of an evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) node: NodeId,
    pub(super) position: usize,
    pub(super) size: usize,
}

pub(super) struct Eval<'t> {
    pub(super) tree: &'t Tree,
    left: usize,
}

impl<'t> Eval<'t> {
    pub(super) fn new(tree: &'t Tree) -> Self {
        Self { tree, left: WORK_MAX }
    }

    pub(super) fn charge(&mut self, amount: usize) -> Result<(), EvalError> {
        self.left = self.left.checked_sub(amount + 1).ok_or(EvalError::TooMuchWork)?;
        Ok(())
    }

    pub(super) fn string_value(&mut self, node: NodeId) -> Result<String, EvalError> {
        let mut text = String::new();
        let looked = self.tree.push_string_value(node, &mut text);
        self.charge(looked + text.len() / 4)?;
        Ok(text)
    }

    pub(super) fn text(&mut self, val: XPathValue) -> Result<String, EvalError> {
        Ok(match val {
            XPathValue::Nodes(nodes) => match nodes.first() {
                Some(first) => self.string_value(*first)?,
                None => String::new(),
            },
            XPathValue::Number(number) => number_text(number),
            XPathValue::Text(text) => text,
            XPathValue::Bool(truth) => truth.to_string(),
        })
    }

    pub(super) fn number(&mut self, val: XPathValue) -> Result<f64, EvalError> {
        Ok(match val {
            XPathValue::Number(number) => number,
            XPathValue::Bool(truth) => f64::from(u8::from(truth)),
            val => text_number(&self.text(val)?),
        })
    }

    pub(super) fn expr(&mut self, expr: &Expr, place: Context) -> Result<XPathValue, EvalError> {
        self.charge(0)?;
        match expr {
            Expr::Number(number) => Ok(XPathValue::Number(*number)),
            Expr::Text(text) => Ok(XPathValue::Text(text.to_string())),
            Expr::Negative(inner) => {
                let val = self.expr(inner, place)?;
                Ok(XPathValue::Number(-self.number(val)?))
            }
            Expr::Call(function, arguments) => function.call(arguments, self, place),
            Expr::Path { absolute, steps } => {
                let start = if *absolute { Tree::ROOT } else { place.node };
                self.steps(vec![start], steps).map(XPathValue::Nodes)
            }
            Expr::From { start, predicates, steps } => {
                let XPathValue::Nodes(mut nodes) = self.expr(start, place)? else {
                    return Err(EvalError::NotNodes);
                };
                for predicate in predicates {
                    nodes = self.keep(nodes, predicate)?;
                }
                self.steps(nodes, steps).map(XPathValue::Nodes)
            }
            Expr::Binary(op, sides) => self.binary(*op, &sides.0, &sides.1, place),
        }
    }

    fn binary(&mut self, op: Op, left: &Expr, right: &Expr, place: Context) -> Result<XPathValue, EvalError> {
        let left = self.expr(left, place)?;
        match op {
            Op::Or if left.to_bool() => return Ok(XPathValue::Bool(true)),
            Op::And if !left.to_bool() => return Ok(XPathValue::Bool(false)),
            _ => {}
        }
        let right = self.expr(right, place)?;
        match op {
            Op::Or | Op::And => Ok(XPathValue::Bool(right.to_bool())),
            Op::Union => match (left, right) {
                (XPathValue::Nodes(mut left), XPathValue::Nodes(right)) => {
                    self.charge(left.len() + right.len())?;
                    left.extend(right);
                    Ok(XPathValue::Nodes(in_order(left)))
                }
                _ => Err(EvalError::NotNodes),
            },
            Op::Plus | Op::Minus | Op::Times | Op::Div | Op::Mod => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                Ok(XPathValue::Number(match op {
                    Op::Plus => left + right,
                    Op::Minus => left - right,
                    Op::Times => left * right,
                    Op::Div => left / right,
                    _ => left % right,
                }))
            }
            _ => self.compare(op, left, right).map(XPathValue::Bool),
        }
    }

    /// XPath 1.0 §3.4: a comparison with nodes is true if it is true for any of them.
    fn compare(&mut self, op: Op, left: XPathValue, right: XPathValue) -> Result<bool, EvalError> {
        match (left, right) {
            (XPathValue::Nodes(left), XPathValue::Nodes(right)) => {
                let right = self.texts(&right)?;
                for left in self.texts(&left)? {
                    for right in &right {
                        self.charge(left.len().min(right.len()) / 16)?;
                        if texts(op, &left, right) {
                            return Ok(true);
                        }
                    }
                }
                Ok(false)
            }
            (left @ XPathValue::Nodes(_), XPathValue::Bool(right)) => {
                Ok(atoms(op, &XPathValue::Bool(left.to_bool()), &XPathValue::Bool(right)))
            }
            (XPathValue::Bool(left), right @ XPathValue::Nodes(_)) => {
                Ok(atoms(op, &XPathValue::Bool(left), &XPathValue::Bool(right.to_bool())))
            }
            (XPathValue::Nodes(nodes), other) => {
                Ok(self.texts(&nodes)?.into_iter().any(|text| atoms(op, &XPathValue::Text(text), &other)))
            }
            (other, XPathValue::Nodes(nodes)) => {
                Ok(self.texts(&nodes)?.into_iter().any(|text| atoms(op, &other, &XPathValue::Text(text))))
            }
            (left, right) => Ok(atoms(op, &left, &right)),
        }
    }

    fn texts(&mut self, nodes: &[NodeId]) -> Result<Vec<String>, EvalError> {
        nodes.iter().map(|node| self.string_value(*node)).collect()
    }

    fn steps(&mut self, mut nodes: Vec<NodeId>, steps: &[Step]) -> Result<Vec<NodeId>, EvalError> {
        for step in steps {
            let mut found = Vec::new();
            for node in nodes {
                let mut here = Vec::new();
                let looked = walk(self.tree, node, step.axis, &step.test, |id| here.push(id));
                self.charge(looked)?;
                for predicate in &step.predicates {
                    here = self.keep(here, predicate)?;
                }
                found.append(&mut here);
            }
            let alone = matches!(step.axis, Axis::Itself);
            nodes = if alone { found } else { in_order(found) };
        }
        Ok(nodes)
    }

    /// Returns the nodes that a predicate selects. A number is a position in the list.
    fn keep(&mut self, nodes: Vec<NodeId>, predicate: &Expr) -> Result<Vec<NodeId>, EvalError> {
        let size = nodes.len();
        if let Expr::Number(wanted) = predicate {
            let at = (1..=size).find(|position| same(*position as f64, *wanted));
            return Ok(at.map(|position| nodes[position - 1]).into_iter().collect());
        }
        let mut kept = Vec::new();
        for (at, node) in nodes.into_iter().enumerate() {
            let place = Context { node, position: at + 1, size };
            let keeps = match self.expr(predicate, place)? {
                XPathValue::Number(number) => same(number, place.position as f64),
                val => val.to_bool(),
            };
            if keeps {
                kept.push(node);
            }
        }
        Ok(kept)
    }
}

#[expect(clippy::float_cmp, reason = "the language compares numbers as IEEE 754 does")]
fn same(left: f64, right: f64) -> bool {
    left == right
}

fn in_order(mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

fn texts(op: Op, left: &str, right: &str) -> bool {
    match op {
        Op::Equal => left == right,
        Op::Unequal => left != right,
        _ => numbers(op, text_number(left), text_number(right)),
    }
}

fn numbers(op: Op, left: f64, right: f64) -> bool {
    match op {
        Op::Less => left < right,
        Op::LessOrEqual => left <= right,
        Op::More => left > right,
        _ => left >= right,
    }
}

/// Compares two values that are not lists of nodes.
fn atoms(op: Op, left: &XPathValue, right: &XPathValue) -> bool {
    let number = |val: &XPathValue| match val {
        XPathValue::Number(number) => *number,
        XPathValue::Bool(truth) => f64::from(u8::from(*truth)),
        XPathValue::Text(text) => text_number(text),
        XPathValue::Nodes(_) => f64::NAN,
    };
    let equal = || match (left, right) {
        (XPathValue::Bool(_), _) | (_, XPathValue::Bool(_)) => left.to_bool() == right.to_bool(),
        (XPathValue::Text(left), XPathValue::Text(right)) => left == right,
        _ => same(number(left), number(right)),
    };
    match op {
        Op::Equal => equal(),
        // This is not the opposite of equal if a value is not a number: NaN != NaN, as in IEEE 754.
        Op::Unequal => !equal(),
        _ => numbers(op, number(left), number(right)),
    }
}
