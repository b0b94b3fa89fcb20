//! [`MessageError`]: the reason why a message could not be encoded or decoded.

use wavetank_units::{phrase, sentence};

use std::fmt;

/// The reason why a message could not be encoded or decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageError {
    /// The JSON does not fit the message's type: the reason, in one line.
    Json(String),
    /// The body does not consist of whole frames.
    Frame,
    /// A frame is compressed with something other than gzip, or its contents are broken.
    Compression,
    /// The bytes are not a message of the expected type.
    Bytes(String),
    /// A call without streaming was answered with another number of messages than one.
    Count(usize),
    /// Messages are larger than the limit, after decompression or as JSON.
    TooLarge,
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = match self {
            Self::Json(why) => sentence!("the message does not fit its type: {why}"),
            Self::Frame => phrase!("the response ends inside a gRPC frame"),
            Self::Compression => phrase!("a compressed message could not be decompressed"),
            Self::Bytes(why) => sentence!("the response is not a message of its type: {why}"),
            Self::Count(count) => sentence!("the call was answered with {count} messages, not with one"),
            Self::TooLarge => phrase!("the messages, decompressed or as JSON, are larger than the limit"),
        };
        sentence.fmt(f)
    }
}
