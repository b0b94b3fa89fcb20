//! [`FollowUpSink`]: the outputs of handling a response. [`Observation`]: one result of evaluating
//! it.

use super::session_event::SessionEvent;
use crate::cookies::CookieOutcome;
use crate::extract::ExtractError;
use crate::value::Values;

/// The outputs of handling a response.
pub struct FollowUpSink<'a> {
    /// The next message. It must be empty before.
    pub request: &'a mut Vec<u8>,
    /// Receives the index of every count that matches.
    pub counted: &'a mut Vec<u16>,
    /// Receives the events of the session.
    pub events: &'a mut Vec<SessionEvent>,
    /// Receives every observation.
    pub watch: &'a mut dyn FnMut(Observation<'_>),
}

/// One result of evaluating a response, passed to [`watch`](FollowUpSink::watch).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Observation<'a> {
    /// The response sets a cookie, which was kept or not.
    Cookie(&'a [u8], CookieOutcome),
    /// An extraction, by its index in the step, and its result.
    Extract(u16, Result<&'a Values, ExtractError>),
    /// A check, by its index in the step: `None` if it passed, else the actual value.
    Check(u16, Option<&'a str>),
    /// A count, by its index in the plan: whether this response is counted.
    Count(u16, bool),
}
