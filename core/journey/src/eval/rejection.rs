//! [`Rejection`]: the reason why a response is not the expected one.

use crate::extract::ExtractError;
use crate::follow_up_error::FollowUpError;

/// The reason why a response is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The status is unexpected.
    Status,
    /// The gRPC status is unexpected: its name, and the server's message.
    Call(String),
    /// A check failed: its index in the step, and the actual value.
    Check(u16, String),
    /// A value could not be extracted: its index in the step, and the reason.
    Extract(u16, ExtractError),
    /// The final response was not reached, or not all of it.
    Stray(FollowUpError),
}
