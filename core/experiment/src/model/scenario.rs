//! [`Scenario`]: the journey of one virtual user.

use wavetank_grammar::{Span, Spanned};
use wavetank_units::Nanos;

use super::on_failure::OnFailure;
use super::{Phase, Step, Think};

/// A scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name; `None` for the one of a top-level `steps:`.
    pub name: Option<Spanned<String>>,
    /// Position in the file.
    pub place: Span,
    /// Its share of the top-level phases; the unnamed scenario has all of them.
    pub weight: Option<Spanned<u64>>,
    /// Its own phases.
    pub phases: Vec<Phase>,
    /// Steps of each user before its first session.
    pub before: Vec<Step>,
    /// The journey.
    pub steps: Vec<Step>,
    /// Steps of each user after its last session.
    pub after: Vec<Step>,
    /// Owner of a connection.
    pub connection: Option<Connection>,
    /// Think time between two steps.
    pub think: Option<Think>,
    /// Minimum time from the start of a user's session to the start of its next.
    pub pace: Option<Nanos>,
    /// The target of its steps.
    pub target: Option<Spanned<String>>,
    /// Reaction to a failed request.
    pub on_failure: Option<OnFailure>,
}

/// The owner of a connection.
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
