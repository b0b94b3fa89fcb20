//! What can be wrong on an event stream.

use wavetank_units::registered;

use crate::h1::ParseError;

/// A fault of the server, which ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The response is malformed.
    Http(ParseError),
    /// The response has status 200 and another media type.
    NotEvents,
    /// The response is compressed, which was not asked for.
    Encoded,
    /// An event, or a line of one, is larger than the limit.
    EventTooLarge,
}

impl Fault {
    /// Describes the fault.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Http(fault) => fault.reason.text(),
            Self::NotEvents => registered!("the response is not an event stream (text/event-stream)"),
            Self::Encoded => registered!("the event stream is compressed, which was not asked for"),
            Self::EventTooLarge => registered!("an event of the stream is longer than the limit"),
        }
    }
}
