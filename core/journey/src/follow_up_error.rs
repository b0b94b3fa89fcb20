//! [`FollowUpError`]: why a request did not come to its end by the way it took.

use crate::auth::ChallengeFault;
use crate::content::ContentFault;

/// Bytes of an address that are told with a failure.
const TOLD_BYTES_MAX: usize = 200;

/// What went wrong between a request and the answer that was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowUpError {
    /// A redirect to a place that is none of the plan's targets: names are resolved once before the run, so that nobody
    /// may lead the load elsewhere.
    Elsewhere(String),
    /// A redirect to what is no http address.
    NoAddress,
    /// The body is in a content coding that nobody here knows.
    UnknownCoding(String),
    /// The body is not what its content coding says.
    Content(ContentFault),
    /// What a page embeds was answered by this status.
    Resource(String, u16),
    /// This many redirects were followed, and the last answer redirects to this address.
    Endless(u8, String),
    /// The status is 401, and the challenge was not answered.
    Challenge(ChallengeFault),
    /// What a page embeds is longer, all together, than the limit.
    ResourcesTooLarge(String),
}

impl FollowUpError {
    /// One clear sentence, with what to do about it where something can be done.
    pub fn message(&self) -> String {
        match self {
            Self::Elsewhere(address) => format!(
                "the redirect to {} leads to none of the plan's targets (hint: name it under targets)",
                shown(address)
            ),
            Self::NoAddress => "the redirect leads to no http address".to_owned(),
            Self::UnknownCoding(coding) => format!(
                "the body's Content-Encoding {} cannot be looked into (hint: gzip, deflate, br and zstd can)",
                shown(coding)
            ),
            Self::Content(ContentFault::Broken) => {
                "the body is not what its Content-Encoding says".to_owned()
            }
            Self::Content(ContentFault::Truncated) => "the encoded body ends in the middle".to_owned(),
            Self::Content(ContentFault::TooLarge) => {
                "decoded, the body is longer than can be looked into".to_owned()
            }
            Self::Resource(address, status) => {
                format!("the embedded {} was answered by {status}", shown(address))
            }
            Self::Endless(follow, address) => format!(
                "the redirects did not end within follow: {follow}; the next one leads to {}",
                shown(address)
            ),
            Self::Challenge(fault) => fault.message(),
            Self::ResourcesTooLarge(address) => {
                format!("what {} embeds is longer than the limit", shown(address))
            }
        }
    }
}

/// As much of `text` as is told.
fn shown(text: &str) -> &str {
    &text[..text.floor_char_boundary(TOLD_BYTES_MAX)]
}
