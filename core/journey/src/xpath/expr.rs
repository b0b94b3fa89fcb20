//! An expression as a tree (XPath 1.0 §2 and §3).

use super::function::Function;

/// Operators between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    Plus,
    Minus,
    Times,
    Div,
    Mod,
    Union,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Binary(Op, Box<(Self, Self)>),
    Negative(Box<Self>),
    Number(f64),
    Text(Box<str>),
    Call(Function, Vec<Self>),
    /// Starts at the root or at the context node.
    Path {
        absolute: bool,
        steps: Vec<Step>,
    },
    /// Starts at the nodes that another expression finds.
    From {
        start: Box<Self>,
        predicates: Vec<Self>,
        steps: Vec<Step>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) axis: Axis,
    pub(super) test: Test,
    pub(super) predicates: Vec<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Parent,
    Preceding,
    PrecedingSibling,
    Itself,
}

impl Axis {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "ancestor" => Self::Ancestor,
            "ancestor-or-self" => Self::AncestorOrSelf,
            "attribute" => Self::Attribute,
            "child" => Self::Child,
            "descendant" => Self::Descendant,
            "descendant-or-self" => Self::DescendantOrSelf,
            "following" => Self::Following,
            "following-sibling" => Self::FollowingSibling,
            "parent" => Self::Parent,
            "preceding" => Self::Preceding,
            "preceding-sibling" => Self::PrecedingSibling,
            "self" => Self::Itself,
            _ => return None,
        })
    }
}

/// A test that selects nodes of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// `*`
    Any,
    /// `prefix:*`, kept with its colon.
    Prefix(Box<str>),
    Name(Box<str>),
    /// `node()`
    Node,
    Text,
    Comment,
    /// `processing-instruction('target')`
    Instruction(Option<Box<str>>),
}
