//! What can be wrong on a WebSocket connection.

use wavetank_units::registered;

use super::close::CloseCode;

/// A fault of the peer, which ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The response to the upgrade is not HTTP/1.
    NotHttp,
    /// The head of the response to the upgrade is too large.
    HeadTooLarge,
    /// More interim (1xx) responses to the upgrade than allowed.
    TooManyInterim,
    /// The response has status 101, but not the version or fields of a WebSocket.
    NoUpgrade,
    /// The response has the wrong `Sec-WebSocket-Accept`.
    WrongAccept,
    /// The server chose a subprotocol that was not offered.
    WrongSubprotocol,
    /// The server chose an extension, or parameters of one, that were not offered.
    WrongExtension,
    /// A frame has a reserved bit.
    ReservedBit,
    /// A frame has a reserved opcode.
    ReservedOpcode,
    /// A frame of a server is masked, or one of a client is not.
    Masking,
    /// A length is not in its shortest form, or has 64 bits.
    BadLength,
    /// A control frame is fragmented or longer than 125 bytes.
    BadControl,
    /// A message continues that has not started, or another one starts inside it.
    Fragmentation,
    /// A Close frame has one byte, or a code that must not be sent.
    BadClose,
    /// Text is not UTF-8.
    NotUtf8,
    /// Compressed data cannot be inflated.
    NotDeflate,
    /// A message is larger than the limit.
    MessageTooLarge,
    /// A message has more fragments than the limit.
    TooManyFragments,
}

impl Fault {
    /// Describes the fault.
    pub const fn text(self) -> &'static str {
        match self {
            Self::NotHttp => registered!("the response to the WebSocket upgrade is not HTTP/1"),
            Self::HeadTooLarge => {
                registered!("the head of the response to the WebSocket upgrade is too large")
            }
            Self::TooManyInterim => {
                registered!("there are more interim (1xx) responses than the limit of 16")
            }
            Self::NoUpgrade => registered!("the response has status 101, but does not upgrade to WebSocket"),
            Self::WrongAccept => registered!("the response has the wrong Sec-WebSocket-Accept"),
            Self::WrongSubprotocol => registered!("the server chose a subprotocol that was not offered"),
            Self::WrongExtension => {
                registered!("the server chose a WebSocket extension that was not offered")
            }
            Self::ReservedBit => registered!("a WebSocket frame has a reserved bit"),
            Self::ReservedOpcode => registered!("a WebSocket frame has a reserved opcode"),
            Self::Masking => registered!("a WebSocket frame has the wrong masking"),
            Self::BadLength => registered!("the length of a WebSocket frame is not encoded as required"),
            Self::BadControl => {
                registered!("a WebSocket control frame is fragmented or longer than 125 bytes")
            }
            Self::Fragmentation => registered!("the fragments of WebSocket messages are not in order"),
            Self::BadClose => registered!("a WebSocket Close frame is malformed"),
            Self::NotUtf8 => registered!("a WebSocket text message is not UTF-8"),
            Self::NotDeflate => registered!("a compressed WebSocket message cannot be inflated"),
            Self::MessageTooLarge => registered!("a WebSocket message is longer than the limit"),
            Self::TooManyFragments => registered!("a WebSocket message has too many fragments"),
        }
    }

    /// Returns the code for the Close frame that the peer gets; `None`: the WebSocket was not open.
    pub(crate) const fn close_code(self) -> Option<CloseCode> {
        Some(match self {
            Self::NotHttp
            | Self::HeadTooLarge
            | Self::TooManyInterim
            | Self::NoUpgrade
            | Self::WrongAccept
            | Self::WrongSubprotocol
            | Self::WrongExtension => return None,
            Self::ReservedBit
            | Self::ReservedOpcode
            | Self::Masking
            | Self::BadLength
            | Self::BadControl
            | Self::Fragmentation
            | Self::BadClose => CloseCode::PROTOCOL_ERROR,
            Self::NotUtf8 | Self::NotDeflate => CloseCode::INVALID_DATA,
            Self::MessageTooLarge | Self::TooManyFragments => CloseCode::TOO_BIG,
        })
    }
}
