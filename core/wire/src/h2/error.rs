//! What can be wrong on an HTTP/2 connection or stream.

use std::fmt;

use super::hpack::HpackError;

/// An error code of `RST_STREAM` and GOAWAY frames (RFC 9113 §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    pub(crate) const PROTOCOL_ERROR: Self = Self(1);
    pub(crate) const FLOW_CONTROL_ERROR: Self = Self(3);
    pub(crate) const STREAM_CLOSED: Self = Self(5);
    pub(crate) const FRAME_SIZE_ERROR: Self = Self(6);
    pub(crate) const REFUSED_STREAM: Self = Self(7);
    pub(crate) const CANCEL: Self = Self(8);
    pub(crate) const COMPRESSION_ERROR: Self = Self(9);
    pub(crate) const ENHANCE_YOUR_CALM: Self = Self(11);

    /// Returns the name in RFC 9113 §7, or `None` for other codes.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "NO_ERROR",
            1 => "PROTOCOL_ERROR",
            2 => "INTERNAL_ERROR",
            3 => "FLOW_CONTROL_ERROR",
            4 => "SETTINGS_TIMEOUT",
            5 => "STREAM_CLOSED",
            6 => "FRAME_SIZE_ERROR",
            7 => "REFUSED_STREAM",
            8 => "CANCEL",
            9 => "COMPRESSION_ERROR",
            10 => "CONNECT_ERROR",
            11 => "ENHANCE_YOUR_CALM",
            12 => "INADEQUATE_SECURITY",
            13 => "HTTP_1_1_REQUIRED",
            _ => return None,
        })
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "error code {}", self.0),
        }
    }
}

/// A fault of the peer. Most end the connection; a few end only the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The first bytes are those of an HTTP/1 response.
    Http1,
    /// The first frame is not SETTINGS.
    NoSettings,
    /// A frame is longer than allowed.
    FrameTooLarge,
    /// A frame has the wrong length for its type.
    FrameSize,
    /// A frame is on a stream on which its type is not allowed.
    WrongStream,
    /// A frame's padding is longer than the frame.
    Padding,
    /// A header block is interrupted by another frame, or continued without a start.
    Continuation,
    /// A header block is larger than allowed, or in too many frames.
    HeadersTooLarge,
    /// A header block cannot be decoded.
    Compression,
    /// A setting has a value that is not allowed.
    BadSetting,
    /// A window grew beyond its maximum.
    WindowOverflow,
    /// A window update of zero bytes.
    EmptyWindowUpdate,
    /// More data than the window allowed.
    WindowExceeded,
    /// A frame on a stream that is closed.
    StreamClosed,
    /// A frame on a stream that was never opened.
    UnknownStream,
    /// A pushed response, although push is disabled.
    Push,
    /// Too many frames without any progress of a request.
    Flood,
    /// The fields of a message break a rule of RFC 9113 §8.
    Malformed,
    /// The body's length is not the declared one.
    BodyLength,
    /// The body is larger than allowed.
    BodyTooLarge,
    /// More interim (1xx) responses than allowed.
    TooManyInterim,
    /// The response to a gRPC call ends inside a message.
    GrpcFrame,
    /// A client did not send the preface (RFC 9113 §3.4).
    NoPreface,
}

impl Fault {
    /// The fault as one clause.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Http1 => "the server speaks HTTP/1.1, not HTTP/2",
            Self::NoSettings => "the first frame is not SETTINGS: the server does not speak HTTP/2",
            Self::FrameTooLarge => "an HTTP/2 frame is longer than allowed",
            Self::FrameSize => "an HTTP/2 frame has the wrong length for its type",
            Self::WrongStream => "an HTTP/2 frame is on a stream that does not allow its type",
            Self::Padding => "the padding of an HTTP/2 frame is longer than the frame",
            Self::Continuation => "an HTTP/2 header block is interrupted, or continued without a start",
            Self::HeadersTooLarge => "an HTTP/2 header block is larger than allowed",
            Self::Compression => "an HTTP/2 header block cannot be decoded",
            Self::BadSetting => "an HTTP/2 setting has a value that is not allowed",
            Self::WindowOverflow => "an HTTP/2 flow-control window grew beyond its maximum",
            Self::EmptyWindowUpdate => "an HTTP/2 window update has no size",
            Self::WindowExceeded => "the peer sent more data than the HTTP/2 flow-control window allows",
            Self::StreamClosed => "the peer sent an HTTP/2 frame on a closed stream",
            Self::UnknownStream => "the peer sent an HTTP/2 frame on a stream that was never opened",
            Self::Push => "the server pushed a response although push is disabled",
            Self::Flood => "the peer sends HTTP/2 control frames without end",
            Self::Malformed => "the headers of an HTTP/2 message are malformed",
            Self::BodyLength => "the body's length differs from Content-Length",
            Self::BodyTooLarge => "the body is larger than allowed",
            Self::TooManyInterim => "there are more interim (1xx) responses than allowed",
            Self::GrpcFrame => "the response ends inside a gRPC message",
            Self::NoPreface => "the client does not begin like HTTP/2",
        }
    }

    /// The code that reports the fault to the peer.
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::FrameTooLarge | Self::FrameSize => ErrorCode::FRAME_SIZE_ERROR,
            Self::Compression => ErrorCode::COMPRESSION_ERROR,
            Self::WindowOverflow | Self::WindowExceeded => ErrorCode::FLOW_CONTROL_ERROR,
            Self::StreamClosed => ErrorCode::STREAM_CLOSED,
            Self::HeadersTooLarge | Self::Flood | Self::TooManyInterim => ErrorCode::ENHANCE_YOUR_CALM,
            Self::BodyTooLarge => ErrorCode::CANCEL,
            _ => ErrorCode::PROTOCOL_ERROR,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for Fault {}

impl From<HpackError> for Fault {
    fn from(_: HpackError) -> Self {
        Self::Compression
    }
}
