//! [`FollowUp`]: something more that goes out for a request before it is over.

use crate::extract::ResponseView;
use crate::step::{Rejection, Retain};

/// What an answer leads to.
#[derive(Debug)]
pub enum NextMessage {
    /// More goes out for the same request; the bytes are in the buffer that was given.
    Leg(FollowUp),
    /// The request is over.
    Over {
        /// The status of the last hop; of a page, not of what it embeds.
        status: u16,
        /// Whether it is as wanted.
        judged: Result<(), Rejection>,
    },
}

/// One more message of a request. It shares the intended start of its request, and only the
/// transport counters count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowUp {
    /// Why it goes out.
    pub kind: FollowUpKind,
    /// Index into the plan's targets.
    pub target: u16,
    /// The answer has no body.
    pub head: bool,
    /// May be sent again on another connection (RFC 9110 §9.2.2).
    pub idempotent: bool,
    /// What of the answer must be kept.
    pub keeps: Retain,
}

/// Why a leg goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowUpKind {
    /// The server wanted to know who asks: the same once more, with the answer to that.
    Challenge,
    /// A redirect is followed.
    Redirect,
    /// A page embeds it.
    Resource,
}

impl FollowUp {
    /// A message of `method`.
    pub(crate) fn new(kind: FollowUpKind, target: u16, method: &str, keeps: Retain) -> Self {
        Self { kind, target, head: method == "HEAD", idempotent: is_idempotent(method), keeps }
    }
}

/// Whether a request of `method` may be sent again on another connection (RFC 9110 §9.2.2).
pub(crate) fn is_idempotent(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE")
}

/// Whether an answer is a page.
pub(crate) fn is_page(answer: &ResponseView<'_>) -> bool {
    answer.headers("content-type").next().is_some_and(is_html_media_type)
}

/// Whether a media type is that of a page.
pub fn is_html_media_type(media_type: &[u8]) -> bool {
    let name = media_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    name.eq_ignore_ascii_case(b"text/html") || name.eq_ignore_ascii_case(b"application/xhtml+xml")
}
