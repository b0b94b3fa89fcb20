//! [`Action`]: one thing that a virtual user does.

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

use crate::{Check, Template, Think};

/// One action of a journey. Requests are identified by their index in the scenario's list of steps,
/// so that measurements do not depend on a request's position in the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Send a request and wait for its response: index into
    /// [`Scenario::steps`](crate::Scenario::steps).
    Request(u16),
    /// Pause.
    Think(Think),
    /// Steps timed as one: index into [`Scenario::groups`](crate::Scenario::groups).
    Group(u16, Vec<Self>),
    /// Repeat the actions this number of times.
    Repeat(u64, Vec<Self>),
    /// Repeat while the check passes.
    While {
        /// Asked before each time.
        check: Box<Check>,
        /// Times at most.
        at_most: u64,
        /// The actions to run.
        steps: Vec<Self>,
    },
    /// One or the other.
    If {
        /// Asked once.
        check: Box<Check>,
        /// If it holds.
        then: Vec<Self>,
        /// If not.
        otherwise: Vec<Self>,
    },
    /// Once for each value of a list.
    Each {
        /// The variable that holds the list.
        list: u16,
        /// The variable that takes its values.
        name: u16,
        /// The actions to run.
        steps: Vec<Self>,
    },
    /// One of several, by weight.
    Choose(Vec<Choice>),
    /// A variable gets a value.
    Set(u16, Template),
    /// A line for the archive's events.
    Log(Template),
    /// The session is over, as it should be.
    EndSession,
    /// The run is over.
    EndRun,
    /// Wait for others.
    Rendezvous(Rendezvous),
}

/// One of several ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Its part of all weights.
    pub weight: u64,
    /// The actions to run.
    pub steps: Vec<Action>,
}

/// A place where users wait for each other and then go on together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendezvous {
    /// Index into [`Plan::rendezvous`](crate::Plan::rendezvous).
    pub place: u16,
    /// From the first to arrive; then those present go.
    pub wait: Nanos,
    /// Continue when this many users are present; `None`: all users of the phase.
    pub of: Option<u64>,
}

/// The effect of a failed request on its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnFailure {
    /// The session continues.
    #[default]
    Continue,
    /// The session is over, failed.
    EndSession,
    /// The run is over, failed.
    EndRun,
}

/// A value taken from an answer into a variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extract {
    /// The variable.
    pub variable: u16,
    /// The place in the response: the grammar's FROM, such as `json $.sku`.
    pub from: String,
    /// All of them as a list, not only the first.
    pub all: bool,
}

impl Action {
    /// Returns the lists of actions inside this one, in order.
    pub fn inside(&self) -> impl Iterator<Item = &[Self]> {
        let (lists, ways): ([&[Self]; 2], &[Choice]) = match self {
            Self::Group(_, steps)
            | Self::Repeat(_, steps)
            | Self::While { steps, .. }
            | Self::Each { steps, .. } => ([steps, &[]], &[]),
            Self::If { then, otherwise, .. } => ([then, otherwise], &[]),
            Self::Choose(ways) => ([&[], &[]], ways),
            Self::Request(_)
            | Self::Think(_)
            | Self::Set(..)
            | Self::Log(_)
            | Self::Rendezvous(_)
            | Self::EndSession
            | Self::EndRun => ([&[], &[]], &[]),
        };
        lists.into_iter().chain(ways.iter().map(|way| way.steps.as_slice()))
    }
}

impl Extract {
    /// Matches that are taken at most where all are.
    pub const ITEMS_MAX: usize = 10_000;
}

/// The credentials of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AuthPlan {
    /// RFC 7617.
    Basic(Template, Template),
    /// RFC 6750.
    Bearer(Template),
    /// RFC 7616: answers the server's challenge.
    Digest(Template, Template),
}
