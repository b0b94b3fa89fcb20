//! [`FollowUp`]: another message that a request needs before it is over.

use super::rejection::Rejection;
use crate::compiled::{Retain, is_idempotent};
use crate::extract::ResponseView;

/// The consequence of a response.
#[derive(Debug)]
pub enum NextMessage {
    /// Another message follows for the same request. Its bytes are in the given buffer.
    Leg(FollowUp),
    /// The message was not the awaited one, or not the last of them: the wait goes on.
    Await,
    /// The request is over.
    Over {
        /// The status of the last hop; for a page, the status of the page itself.
        status: u16,
        /// Whether the response is the expected one.
        judged: Result<(), Rejection>,
    },
}

/// One more message of a request. It shares the intended start of its request, and only the
/// transport counters count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowUp {
    /// The reason for the message.
    pub kind: FollowUpKind,
    /// Index into the plan's targets.
    pub target: u16,
    /// Whether the response has no body.
    pub head: bool,
    /// Whether the message may be sent again on another connection (RFC 9110 §9.2.2).
    pub idempotent: bool,
    /// The parts of the response that must be kept.
    pub keeps: Retain,
}

/// The reason for another message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowUpKind {
    /// The server requested credentials: the request is repeated with them.
    Challenge,
    /// A redirect is followed.
    Redirect,
    /// A resource that a page embeds is fetched.
    Resource,
}

impl FollowUp {
    /// A message of `method`.
    pub(crate) fn new(kind: FollowUpKind, target: u16, method: &str, keeps: Retain) -> Self {
        Self { kind, target, head: method == "HEAD", idempotent: is_idempotent(method), keeps }
    }
}

/// Whether a response is a page.
pub(crate) fn is_page(answer: &ResponseView<'_>) -> bool {
    answer.headers("content-type").next().is_some_and(is_html_media_type)
}

/// Whether a media type is HTML or XHTML.
pub fn is_html_media_type(media_type: &[u8]) -> bool {
    let name = media_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    name.eq_ignore_ascii_case(b"text/html") || name.eq_ignore_ascii_case(b"application/xhtml+xml")
}
