//! [`Scenario`]: what one virtual user does.

use wavetank_plan::Nanos;

use super::{Phase, Step, Think};
use crate::{Span, Spanned};

/// A scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name; `None` for the one of a top-level `steps:`.
    pub name: Option<Spanned<String>>,
    /// Position in the file.
    pub place: Span,
    /// Its part of the top-level phases; the unnamed scenario has all of them.
    pub weight: Option<Spanned<u64>>,
    /// Phases of its own.
    pub phases: Vec<Phase>,
    /// Once per user, first.
    pub before: Vec<Step>,
    /// The journey.
    pub steps: Vec<Step>,
    /// Once per user, last.
    pub after: Vec<Step>,
    /// Who owns a connection.
    pub connection: Option<Connection>,
    /// Waited between two steps.
    pub think: Option<Think>,
    /// From the start of one session of a user to the start of its next.
    pub pace: Option<Nanos>,
    /// The target of its steps.
    pub target: Option<Spanned<String>>,
    /// What a failed request leads to.
    pub on_failure: Option<OnFailure>,
}

/// Who owns a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connection {
    /// A user, over all its sessions.
    #[default]
    User,
    /// A session.
    Session,
    /// A request.
    Request,
    /// The run: a pool.
    Shared,
}

/// What a failed request leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The session goes on.
    #[default]
    Continue,
    /// The session ends, failed.
    EndSession,
    /// The run ends, failed.
    EndRun,
}
