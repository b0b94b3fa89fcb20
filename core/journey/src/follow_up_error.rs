//! [`FollowUpError`]: why a request did not come to its end by the way it took.

use crate::content::ContentFault;

/// Maximum number of bytes of an address in a message.
const TOLD_BYTES_MAX: usize = 200;

/// What went wrong between a request and the answer that was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowUpError {
    /// A redirect to a place that is not a target of the plan. Names are resolved once before the
    /// run, so that no server can lead the load elsewhere.
    Elsewhere(String),
    /// A redirect to what is no http address.
    NoAddress,
    /// The body has a content coding that is not supported.
    UnknownCoding(String),
    /// The body is not what its content coding says.
    Content(ContentFault),
    /// What a page embeds was answered by this status.
    Resource(String, u16),
    /// What a page embeds is longer, all together, than the limit.
    ResourcesTooLarge(String),
}

impl FollowUpError {
    /// One clear sentence, with what to do about it where something can be done.
    pub fn message(&self) -> String {
        match self {
            Self::Elsewhere(address) => format!(
                "the redirect to {} does not lead to a target of the plan (hint: add it under targets)",
                shown(address)
            ),
            Self::NoAddress => "the redirect does not lead to an http address".to_owned(),
            Self::UnknownCoding(coding) => format!(
                "the body's Content-Encoding {} is not supported (hint: use gzip, deflate, br or zstd)",
                shown(coding)
            ),
            Self::Content(ContentFault::Broken) => "the body does not match its Content-Encoding".to_owned(),
            Self::Content(ContentFault::Truncated) => "the encoded body is incomplete".to_owned(),
            Self::Content(ContentFault::TooLarge) => {
                "the decoded body is too long to be evaluated".to_owned()
            }
            Self::Resource(address, status) => {
                format!("the embedded resource {} returned status {status}", shown(address))
            }
            Self::ResourcesTooLarge(address) => {
                format!("the resources embedded in {} exceed the size limit", shown(address))
            }
        }
    }
}

/// Returns the part of `text` that a message shows.
fn shown(text: &str) -> &str {
    &text[..text.floor_char_boundary(TOLD_BYTES_MAX)]
}
