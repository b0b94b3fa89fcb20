//! Why bytes could not be read as HTTP/1.

use wavetank_units::registered;

use std::fmt;

/// A fault that ended reading: the bytes break the protocol or a limit. The connection is of no
/// further use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What the fault means for the request.
    pub kind: FaultKind,
    /// The exact fault; its `Display` is one clause.
    pub reason: Reason,
}

/// What a fault means for the request it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The peer broke the protocol, or a limit on anything but the body.
    Protocol,
    /// The body is larger than allowed. Nothing else was wrong.
    BodyLimit,
}

/// The single fault that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The first bytes are not those of an HTTP status line.
    NotHttp,
    /// A frame with which a server starts or ends an HTTP/2 connection: SETTINGS or GOAWAY.
    Http2,
    /// A record of TLS: an alert, or a handshake message (RFC 8446 §5.1).
    Tls,
    /// HTTP, but not version 1.0 or 1.1.
    Version,
    /// The status code is not three digits from 100 to 999, or is not set off by single spaces.
    BadStatus,
    /// A CR that does not belong to a line's end.
    BareCr,
    /// A LF without CR where only CRLF is allowed.
    BareLf,
    /// NUL or another control character in a head or trailer.
    ControlByte,
    /// A line that begins with white space.
    FoldedLine,
    /// White space between a field's name and its colon.
    SpaceBeforeColon,
    /// A field line without a colon.
    MissingColon,
    /// A character that no field name may hold, or no name at all.
    BadFieldName,
    /// The head is larger than `head_bytes_max`.
    HeadTooLarge,
    /// The head has more than `headers_max` fields.
    TooManyFields,
    /// `Content-Length` is not a decimal number of 64 bits.
    BadContentLength,
    /// Two values of `Content-Length` differ.
    DifferingContentLengths,
    /// `Content-Length` together with `Transfer-Encoding`.
    LengthAndCoding,
    /// `Transfer-Encoding` in an HTTP/1.0 message.
    CodingIn10,
    /// A transfer coding that is not registered.
    UnknownCoding,
    /// An empty `Transfer-Encoding`, `chunked` twice, or a coding with parameters.
    BadCoding,
    /// More than `interim_max` interim responses.
    TooManyInterim,
    /// 101 to a request that asked for no upgrade.
    UnaskedUpgrade,
    /// A chunk size that is not one to sixteen hexadecimal digits.
    BadChunkSize,
    /// A chunk extension that breaks its grammar.
    BadChunkExtension,
    /// A chunk's extensions are larger than `chunk_extension_bytes_max`.
    ChunkExtensionTooLarge,
    /// A chunk's data is not followed by CRLF.
    MissingChunkEnd,
    /// The trailer section is larger than `trailer_bytes_max`.
    TrailersTooLarge,
    /// The body is larger than `body_bytes_max`.
    BodyTooLarge,
    /// A request line that is not method, target and version with single spaces between them.
    BadRequestLine,
    /// A character that no method may hold, or no method at all.
    BadMethod,
    /// A character that no request target may hold.
    BadTarget,
    /// An HTTP/1.1 request without `Host`.
    MissingHost,
    /// More than one `Host`.
    SeveralHosts,
    /// A request in which `chunked` is not the last transfer coding. Its end cannot be known.
    UnframedRequest,
    /// More than a few blank lines before a request.
    TooManyBlankLines,
}

impl Reason {
    /// The reason as one clause.
    pub const fn text(self) -> &'static str {
        match self {
            Self::NotHttp => registered!("the data does not begin like HTTP"),
            Self::Http2 => registered!("the server speaks HTTP/2, not HTTP/1.1"),
            Self::Tls => registered!("the server speaks TLS, not plain HTTP"),
            Self::Version => registered!("the HTTP version is not 1.0 or 1.1"),
            Self::BadStatus => registered!("the status line has no three-digit status code"),
            Self::BareCr => registered!("a carriage return is not followed by a line feed"),
            Self::BareLf => registered!("a chunk line ends in a bare line feed"),
            Self::ControlByte => registered!("the head contains a control character"),
            Self::FoldedLine => registered!("a header line begins with white space"),
            Self::SpaceBeforeColon => {
                registered!("there is white space between a header's name and its colon")
            }
            Self::MissingColon => registered!("a header line has no colon"),
            Self::BadFieldName => registered!("a header's name is empty or contains a forbidden character"),
            Self::HeadTooLarge => registered!("the head is larger than the limit of 64 KiB"),
            Self::TooManyFields => registered!("the head has more headers than the limit of 256"),
            Self::BadContentLength => registered!("Content-Length is not a number"),
            Self::DifferingContentLengths => registered!("Content-Length is given with different values"),
            Self::LengthAndCoding => registered!("Content-Length and Transfer-Encoding are both given"),
            Self::CodingIn10 => registered!("Transfer-Encoding is given in an HTTP/1.0 message"),
            Self::UnknownCoding => registered!("Transfer-Encoding names an unknown coding"),
            Self::BadCoding => registered!("Transfer-Encoding is empty, repeats chunked or has parameters"),
            Self::TooManyInterim => {
                registered!("there are more interim (1xx) responses than the limit of 16")
            }
            Self::UnaskedUpgrade => registered!("the peer switched protocols (101) without being asked"),
            Self::BadChunkSize => registered!("a chunk size is not one to sixteen hexadecimal digits"),
            Self::BadChunkExtension => registered!("a chunk extension is malformed"),
            Self::ChunkExtensionTooLarge => {
                registered!("a chunk extension is larger than the limit of 4 KiB")
            }
            Self::MissingChunkEnd => registered!("a chunk is longer than its declared size"),
            Self::TrailersTooLarge => registered!("the trailers are larger than the limit of 16 KiB"),
            Self::BodyTooLarge => registered!("the body is larger than allowed"),
            Self::BadRequestLine => registered!("the request line is not method, target and version"),
            Self::BadMethod => registered!("the method contains a forbidden character"),
            Self::BadTarget => registered!("the request target contains a forbidden character"),
            Self::MissingHost => registered!("an HTTP/1.1 request has no Host"),
            Self::SeveralHosts => registered!("a request has more than one Host"),
            Self::UnframedRequest => registered!("the request's last transfer coding is not chunked"),
            Self::TooManyBlankLines => registered!("there are too many blank lines before the request"),
        }
    }

    /// Returns the status that a server sends in response to a request with this fault.
    pub const fn status(self) -> u16 {
        match self {
            Self::HeadTooLarge | Self::TooManyFields | Self::TrailersTooLarge => 431,
            Self::BodyTooLarge => 413,
            Self::Version => 505,
            Self::UnknownCoding => 501,
            _ => 400,
        }
    }
}

impl From<Reason> for ParseError {
    fn from(reason: Reason) -> Self {
        let kind = match reason {
            Reason::BodyTooLarge => FaultKind::BodyLimit,
            _ => FaultKind::Protocol,
        };
        Self { kind, reason }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason.text())
    }
}

impl std::error::Error for ParseError {}
