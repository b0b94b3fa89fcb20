//! [`FollowUpSink`]: the outputs of handling a response.

use super::Observation;
use crate::session::SessionEvent;

/// The outputs of handling a response.
pub struct FollowUpSink<'a> {
    /// The next message. It must be empty before.
    pub request: &'a mut Vec<u8>,
    /// Receives the index of every count that matches.
    pub counted: &'a mut Vec<u16>,
    /// Receives the events of the session.
    pub told: &'a mut Vec<SessionEvent>,
    /// Receives every observation.
    pub watch: &'a mut dyn FnMut(Observation<'_>),
}
