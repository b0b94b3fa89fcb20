//! What can be wrong on a connection or stream of HTTP/2 or HTTP/3.

use wavetank_units::registered;

use std::fmt;

use super::hpack::HpackError;

/// An error code of HTTP/2 (RFC 9113 §7) or HTTP/3 (RFC 9114 §8.1). Their numbers differ.
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
    pub(crate) const HTTP3_NO_ERROR: Self = Self(0x100);
    const HTTP3_GENERAL_PROTOCOL_ERROR: Self = Self(0x101);
    const HTTP3_STREAM_CREATION_ERROR: Self = Self(0x103);
    const HTTP3_CLOSED_CRITICAL_STREAM: Self = Self(0x104);
    const HTTP3_FRAME_UNEXPECTED: Self = Self(0x105);
    const HTTP3_FRAME_ERROR: Self = Self(0x106);
    pub(crate) const HTTP3_EXCESSIVE_LOAD: Self = Self(0x107);
    const HTTP3_ID_ERROR: Self = Self(0x108);
    const HTTP3_SETTINGS_ERROR: Self = Self(0x109);
    const HTTP3_MISSING_SETTINGS: Self = Self(0x10a);
    pub(crate) const HTTP3_REQUEST_REJECTED: Self = Self(0x10b);
    pub(crate) const HTTP3_REQUEST_CANCELLED: Self = Self(0x10c);
    pub(crate) const HTTP3_REQUEST_INCOMPLETE: Self = Self(0x10d);
    pub(crate) const HTTP3_MESSAGE_ERROR: Self = Self(0x10e);
    const QPACK_DECOMPRESSION_FAILED: Self = Self(0x200);
    const QPACK_ENCODER_STREAM_ERROR: Self = Self(0x201);
    const QPACK_DECODER_STREAM_ERROR: Self = Self(0x202);

    /// Returns the name in these documents, or `None` for other codes.
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
            0x100 => "H3_NO_ERROR",
            0x101 => "H3_GENERAL_PROTOCOL_ERROR",
            0x102 => "H3_INTERNAL_ERROR",
            0x103 => "H3_STREAM_CREATION_ERROR",
            0x104 => "H3_CLOSED_CRITICAL_STREAM",
            0x105 => "H3_FRAME_UNEXPECTED",
            0x106 => "H3_FRAME_ERROR",
            0x107 => "H3_EXCESSIVE_LOAD",
            0x108 => "H3_ID_ERROR",
            0x109 => "H3_SETTINGS_ERROR",
            0x10a => "H3_MISSING_SETTINGS",
            0x10b => "H3_REQUEST_REJECTED",
            0x10c => "H3_REQUEST_CANCELLED",
            0x10d => "H3_REQUEST_INCOMPLETE",
            0x10e => "H3_MESSAGE_ERROR",
            0x10f => "H3_CONNECT_ERROR",
            0x110 => "H3_VERSION_FALLBACK",
            0x200 => "QPACK_DECOMPRESSION_FAILED",
            0x201 => "QPACK_ENCODER_STREAM_ERROR",
            0x202 => "QPACK_DECODER_STREAM_ERROR",
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
    /// A gRPC frame with an unknown flag.
    GrpcFlag,
    /// A gRPC message that is compressed, although the response names no encoding.
    GrpcCompression,
    /// A client did not send the preface (RFC 9113 §3.4).
    NoPreface,
    /// An HTTP/3 frame on a stream that does not allow its type.
    Http3Frame,
    /// An HTTP/3 frame that is longer than allowed, or too short for its type.
    Http3FrameSize,
    /// An HTTP/3 control or QPACK stream that is closed.
    Http3CriticalStream,
    /// An HTTP/3 control or QPACK stream that is opened twice.
    Http3SecondStream,
    /// An HTTP/3 setting that is given twice, or belongs to HTTP/2.
    Http3Setting,
    /// An HTTP/3 frame with the number of a stream or push that it must not name.
    Http3Id,
    /// An instruction on a QPACK stream that needs a dynamic table. The bool: it is the stream of
    /// the peer's encoder.
    Qpack(bool),
    /// The first frame of an HTTP/3 control stream is not SETTINGS.
    NoHttp3Settings,
    /// An HTTP/3 stream ended before its response was complete.
    Http3Incomplete,
}

impl Fault {
    /// The fault as one clause.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Http1 => registered!("the server speaks HTTP/1.1, not HTTP/2"),
            Self::NoSettings => {
                registered!("the first frame is not SETTINGS: the server does not speak HTTP/2")
            }
            Self::FrameTooLarge => registered!("an HTTP/2 frame is longer than allowed"),
            Self::FrameSize => registered!("an HTTP/2 frame has the wrong length for its type"),
            Self::WrongStream => registered!("an HTTP/2 frame is on a stream that does not allow its type"),
            Self::Padding => registered!("the padding of an HTTP/2 frame is longer than the frame"),
            Self::Continuation => {
                registered!("an HTTP/2 header block is interrupted, or continued without a start")
            }
            Self::HeadersTooLarge => registered!("a header block is larger than allowed"),
            Self::Compression => registered!("a header block cannot be decoded"),
            Self::BadSetting => registered!("an HTTP/2 setting has a value that is not allowed"),
            Self::WindowOverflow => registered!("an HTTP/2 flow-control window grew beyond its maximum"),
            Self::EmptyWindowUpdate => registered!("an HTTP/2 window update has no size"),
            Self::WindowExceeded => {
                registered!("the peer sent more data than the HTTP/2 flow-control window allows")
            }
            Self::StreamClosed => registered!("the peer sent an HTTP/2 frame on a closed stream"),
            Self::UnknownStream => registered!("the peer sent a frame on a stream that was never opened"),
            Self::Push => registered!("the server pushed a response although push is disabled"),
            Self::Flood => registered!("the peer sends HTTP/2 control frames without end"),
            Self::Malformed => registered!("the headers of the message are malformed"),
            Self::BodyLength => registered!("the body's length differs from Content-Length"),
            Self::BodyTooLarge => registered!("the body is larger than allowed"),
            Self::TooManyInterim => registered!("there are more interim (1xx) responses than allowed"),
            Self::GrpcFrame => registered!("the response ends inside a gRPC message"),
            Self::GrpcFlag => registered!("a gRPC frame has an unknown flag"),
            Self::GrpcCompression => {
                registered!("a gRPC message is compressed, but the response names no encoding")
            }
            Self::NoPreface => registered!("the client does not begin like HTTP/2"),
            Self::Http3Frame => registered!("an HTTP/3 frame is on a stream that does not allow its type"),
            Self::Http3FrameSize => {
                registered!("an HTTP/3 frame is longer than allowed, or too short for its type")
            }
            Self::Http3CriticalStream => registered!("an HTTP/3 control or QPACK stream is closed"),
            Self::Http3SecondStream => registered!("an HTTP/3 control or QPACK stream is opened twice"),
            Self::Http3Setting => registered!("an HTTP/3 setting is given twice, or belongs to HTTP/2"),
            Self::Http3Id => registered!("an HTTP/3 frame names a stream or push that it must not name"),
            Self::Qpack(_) => registered!("a QPACK instruction needs a dynamic table, which was not allowed"),
            Self::NoHttp3Settings => {
                registered!("the first frame of the HTTP/3 control stream is not SETTINGS")
            }
            Self::Http3Incomplete => registered!("the HTTP/3 stream ended before the response was complete"),
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

impl Fault {
    /// The code that reports the fault to a peer that speaks HTTP/3.
    pub(crate) const fn http3_code(self) -> ErrorCode {
        match self {
            Self::Http3Frame => ErrorCode::HTTP3_FRAME_UNEXPECTED,
            Self::Http3FrameSize => ErrorCode::HTTP3_FRAME_ERROR,
            Self::Http3CriticalStream => ErrorCode::HTTP3_CLOSED_CRITICAL_STREAM,
            Self::NoHttp3Settings => ErrorCode::HTTP3_MISSING_SETTINGS,
            Self::UnknownStream | Self::Http3SecondStream => ErrorCode::HTTP3_STREAM_CREATION_ERROR,
            Self::Http3Setting => ErrorCode::HTTP3_SETTINGS_ERROR,
            Self::Http3Id | Self::Push => ErrorCode::HTTP3_ID_ERROR,
            Self::Compression => ErrorCode::QPACK_DECOMPRESSION_FAILED,
            Self::Qpack(true) => ErrorCode::QPACK_ENCODER_STREAM_ERROR,
            Self::Qpack(false) => ErrorCode::QPACK_DECODER_STREAM_ERROR,
            Self::HeadersTooLarge | Self::Flood | Self::TooManyInterim => ErrorCode::HTTP3_EXCESSIVE_LOAD,
            Self::BodyTooLarge => ErrorCode::HTTP3_REQUEST_CANCELLED,
            Self::Malformed | Self::BodyLength | Self::Http3Incomplete => ErrorCode::HTTP3_MESSAGE_ERROR,
            _ => ErrorCode::HTTP3_GENERAL_PROTOCOL_ERROR,
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
