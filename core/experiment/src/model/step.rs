//! [`Step`]: one thing a user does.

use wavetank_plan::Nanos;

use super::{Check, Request, Template, Value};
use crate::{Span, Spanned};

/// A step: one verb with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Position in the file.
    pub place: Span,
    /// What is done.
    pub verb: Verb,
}

/// The verbs.
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// Send a request.
    Request(Box<Request>),
    /// Wait.
    Think(Think),
    /// Steps timed as one.
    Group(Spanned<String>, Vec<Step>),
    /// Repeats the steps this many times.
    Repeat(Spanned<u64>, Vec<Step>),
    /// As long as a condition holds.
    While {
        /// Asked ahead of each turn.
        check: Check,
        /// Turns at most.
        at_most: u64,
        /// What is done.
        steps: Vec<Step>,
    },
    /// One or the other.
    If {
        /// Asked once.
        check: Check,
        /// If it holds.
        then: Vec<Step>,
        /// If not.
        otherwise: Vec<Step>,
    },
    /// Once for each item of a list.
    Each {
        /// The list.
        list: ForEachItems,
        /// The variable that holds the item.
        name: Spanned<String>,
        /// What is done.
        steps: Vec<Step>,
    },
    /// One of several ways.
    Choose(Vec<Choice>),
    /// The steps of a block.
    Use(Spanned<String>),
    /// Give variables a value.
    Set(Vec<(Spanned<String>, Value)>),
    /// Write a line.
    Log(Template),
    /// End the session or the run.
    End(EndScope),
    /// Wait for the others.
    Rendezvous {
        /// Its name.
        name: Spanned<String>,
        /// From the first to arrive.
        wait: Option<Spanned<Nanos>>,
        /// How many are waited for; `None`: everybody of the phase.
        of: Option<u64>,
    },
}

/// The list of an `each`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForEachItems {
    /// Fixed items.
    Items(Vec<Value>),
    /// A variable that an answer fills.
    Variable(Spanned<String>),
}

/// One of several ways.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// How often, relative to the others.
    pub weight: u64,
    /// What is done.
    pub steps: Vec<Step>,
}

/// What an `end` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndScope {
    /// The session, as it should.
    Session,
    /// The run.
    Run,
}

/// How long a user thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Think {
    /// Always as long.
    Fixed(Nanos),
    /// Any time between the two.
    Even(Nanos, Nanos),
    /// Exponential with this mean.
    Exponential(Nanos),
    /// Normal, cut at 0.
    Normal {
        /// The mean.
        mean: Nanos,
        /// The standard deviation.
        deviation: Nanos,
    },
    /// Lognormal.
    Lognormal {
        /// Half of the times are shorter.
        median: Nanos,
        /// 95 of 100 are shorter.
        p95: Nanos,
    },
}
