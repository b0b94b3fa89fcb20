//! [`FollowUpError`]: the reason why a request with several messages failed.

use wavetank_grpc::MessageError;
use wavetank_units::{Sentence, phrase, sentence};

use crate::auth::ChallengeFault;
use crate::content::{Coding, ContentFault};

/// Maximum number of bytes of an address in a message.
const SHOWN_BYTES_MAX: usize = 200;

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
    /// The body cannot be decoded with its content coding.
    Content(Coding, ContentFault),
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
    pub fn message(&self) -> Sentence {
        match self {
            Self::Elsewhere(address) => sentence!(
                "the redirect to {} does not lead to a target of the plan (hint: add it under targets)",
                shown(address)
            ),
            Self::NoAddress => phrase!("the redirect does not lead to an http address"),
            Self::UnknownCoding(coding) => sentence!(
                "the body's Content-Encoding {} is not supported (hint: use gzip, deflate, br or zstd)",
                shown(coding)
            ),
            Self::Content(coding, fault) => damaged(coding.name(), *fault),
            Self::Message(error) => sentence!("{error}"),
            Self::Resource(address, status) => {
                sentence!("the embedded resource {} returned status {status}", shown(address))
            }
            Self::Endless(follow, address) => sentence!(
                "the redirects did not end within follow: {follow}; the next one leads to {}",
                shown(address)
            ),
            Self::Challenge(fault) => fault.message(),
            Self::ResourcesTooLarge(address) => {
                sentence!("the resources embedded in {} exceed the size limit", shown(address))
            }
        }
    }
}

/// Returns the message for a body in `coding` with this fault.
fn damaged(coding: &str, fault: ContentFault) -> Sentence {
    match fault {
        ContentFault::NotCoded => sentence!("the body is not {coding}, which its Content-Encoding names"),
        ContentFault::Broken => sentence!("the {coding} body is damaged: its data is not valid"),
        ContentFault::Truncated => sentence!("the {coding} body is damaged: it ends too early"),
        ContentFault::Checksum => sentence!("the {coding} body is damaged: its checksum is wrong"),
        ContentFault::TooLarge => phrase!("the decoded body is too long to be evaluated"),
    }
}

/// Returns the part of `text` that a message shows.
fn shown(text: &str) -> &str {
    &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)]
}
