//! [`Step`]: one action of a user.

use wavetank_grammar::{Span, Spanned};
use wavetank_units::Nanos;

use super::{Check, Request, Template, Value};

/// A step: one verb with its keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Position in the file.
    pub place: Span,
    /// The action.
    pub verb: Verb,
}

/// The verbs.
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// Sends a request.
    Request(Box<Request>),
    /// Waits like a human user.
    Think(Think),
    /// Times steps as one unit.
    Group(Spanned<String>, Vec<Step>),
    /// Repeats the steps this many times.
    Repeat(Spanned<u64>, Vec<Step>),
    /// Repeats steps while a condition is true.
    While {
        /// The condition, tested before each iteration.
        check: Check,
        /// Maximum number of iterations.
        at_most: u64,
        /// The steps to repeat.
        steps: Vec<Step>,
    },
    /// Runs steps if a condition is true, others if not.
    If {
        /// The condition.
        check: Check,
        /// The steps if it is true.
        then: Vec<Step>,
        /// The steps if it is false.
        otherwise: Vec<Step>,
    },
    /// Runs steps once for each item of a list.
    Each {
        /// The list.
        list: ForEachItems,
        /// The variable that holds the item.
        name: Spanned<String>,
        /// The steps for each item.
        steps: Vec<Step>,
    },
    /// Chooses one of several alternatives.
    Choose(Vec<Choice>),
    /// Runs the steps of a block.
    Use(Spanned<String>),
    /// Sets variables.
    Set(Vec<(Spanned<String>, Value)>),
    /// Writes a line.
    Log(Template),
    /// Ends the session or the run.
    End(EndScope),
    /// Waits for other users.
    Rendezvous {
        /// Its name.
        name: Spanned<String>,
        /// Maximum wait from the first arrival.
        wait: Option<Spanned<Nanos>>,
        /// Number of users to wait for; `None`: all users of the phase.
        of: Option<u64>,
    },
}

/// The list of an `each`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForEachItems {
    /// Fixed items.
    Items(Vec<Value>),
    /// A variable that is extracted from a response.
    Variable(Spanned<String>),
}

/// One alternative of `choose`.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its probability, relative to the others.
    pub weight: u64,
    /// The steps of this alternative.
    pub steps: Vec<Step>,
}

/// The scope of an `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndScope {
    /// The session, which counts as completed.
    Session,
    /// The run.
    Run,
}

/// A think time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Think {
    /// Constant.
    Fixed(Nanos),
    /// Uniformly distributed between the two.
    Even(Nanos, Nanos),
    /// Exponential with this mean.
    Exponential(Nanos),
    /// Normal, cut off at 0.
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
