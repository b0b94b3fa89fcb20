//! [`FollowUpError`]: the reason why a request with several messages failed.

use wavetank_grpc::MessageError;

use crate::auth::ChallengeFault;
use crate::content::ContentFault;

/// Maximum number of bytes of an address in a message.
const TOLD_BYTES_MAX: usize = 200;

/// The failure that prevented the expected response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowUpError {
    /// A redirect to a place that is not a target of the plan. Names are resolved once before the
    /// run, so that no server can lead the load elsewhere.
    Elsewhere(String),
    /// A redirect to something that is not an http address.
    NoAddress,
    /// The body has a content coding that is not supported.
    UnknownCoding(String),
    /// The body does not match its content coding.
    Content(ContentFault),
    /// The body is not what the called gRPC method returns.
    Message(MessageError),
    /// An embedded resource returned this status.
    Resource(String, u16),
    /// This many redirects were followed, and the last answer redirects to this address.
    Endless(u8, String),
    /// The status is 401, and the challenge was not answered.
    Challenge(ChallengeFault),
    /// The embedded resources of a page are longer in total than the limit.
    ResourcesTooLarge(String),
}

impl FollowUpError {
    /// Returns one clear sentence, with a hint if there is a remedy.
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
            Self::Content(ContentFault::Checksum) => "the checksum of the encoded body is wrong".to_owned(),
            Self::Content(ContentFault::TooLarge) => {
                "the decoded body is too long to be evaluated".to_owned()
            }
            Self::Message(error) => error.to_string(),
            Self::Resource(address, status) => {
                format!("the embedded resource {} returned status {status}", shown(address))
            }
            Self::Endless(follow, address) => format!(
                "the redirects did not end within follow: {follow}; the next one leads to {}",
                shown(address)
            ),
            Self::Challenge(fault) => fault.message(),
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
