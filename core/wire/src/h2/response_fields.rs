//! The header block of a response.

use super::error::Fault;
use crate::fields::FieldDecoder;
use crate::h1::{Limits, Version};

/// The contents of a response's header block.
#[derive(Debug, Default)]
pub(crate) struct ResponseFields {
    /// The status; 0 if there was none, as in trailers.
    pub(crate) status: u16,
    pub(crate) content_length: Option<u64>,
    /// The fields of gRPC.
    pub(crate) grpc: GrpcFields,
    /// A status line and the fields as lines, if they were wanted, ending with an empty line.
    pub(crate) lines: Vec<u8>,
    /// A rule of RFC 9113 §8 is broken.
    pub(crate) malformed: bool,
    /// The fields are larger or more than the limits allow.
    pub(crate) too_large: bool,
}

/// The fields of a header block that gRPC needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GrpcFields {
    /// The value of `grpc-status`, if there is one.
    pub(crate) status: Option<u16>,
    /// The media type is that of something else.
    pub(crate) has_other_type: bool,
    /// Messages may be compressed.
    pub(crate) has_encoding: bool,
}

/// Fields of one HTTP/1 connection, which no HTTP/2 message may have (RFC 9113 §8.2.2).
const CONNECTION_FIELDS: [&[u8]; 5] =
    [b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"];

/// Decodes `block` of a message of this version. `wants_lines`: the fields are kept as text.
///
/// # Errors
/// If the block cannot be decoded, which ends the connection.
pub(crate) fn decode(
    decoder: &mut impl FieldDecoder,
    block: &[u8],
    limits: &Limits,
    (version, wants_lines): (Version, bool),
    fields: &mut ResponseFields,
) -> Result<(), Fault> {
    fields.lines.clear();
    (fields.status, fields.content_length, fields.grpc) = (0, None, GrpcFields::default());
    (fields.malformed, fields.too_large) = (false, false);
    let (mut count, mut bytes, mut regular) = (0, 0, false);
    decoder.decode(block, |name, value| {
        count += 1;
        bytes += name.len() + value.len() + 4;
        if count > limits.headers_max || bytes > limits.head_bytes_max {
            fields.too_large = true;
            return;
        }
        if let Some(pseudo) = name.strip_prefix(b":") {
            let known = pseudo == b"status" && fields.status == 0 && !regular;
            match status_of(value).filter(|_| known) {
                Some(status) => {
                    fields.status = status;
                    if wants_lines {
                        let version: &[u8] = if version == Version::Http3 { b"HTTP/3 " } else { b"HTTP/2 " };
                        for piece in [version, value, b"\r\n"] {
                            fields.lines.extend_from_slice(piece);
                        }
                    }
                }
                None => fields.malformed = true,
            }
            return;
        }
        regular = true;
        if !is_valid(name, value) {
            fields.malformed = true;
        } else if name == b"content-length" {
            fields.note_length(value);
        } else {
            fields.grpc.note(name, value);
        }
        if wants_lines {
            for piece in [name, b": ", value, b"\r\n"] {
                fields.lines.extend_from_slice(piece);
            }
        }
    })?;
    if wants_lines {
        fields.lines.extend_from_slice(b"\r\n");
    }
    Ok(())
}

impl GrpcFields {
    fn note(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"grpc-status" => {
                // A status that is not a number has no meaning, like one that is too large.
                let status = decimal(value).and_then(|status| u16::try_from(status).ok());
                self.status = Some(status.unwrap_or(u16::MAX));
            }
            b"grpc-encoding" => self.has_encoding = value != b"identity",
            b"content-type" => self.has_other_type = !is_grpc_type(value),
            _ => {}
        }
    }
}

/// Whether this media type is that of gRPC, with or without the name of an encoding.
pub(crate) fn is_grpc_type(value: &[u8]) -> bool {
    const GRPC: &[u8] = b"application/grpc";
    let start = value.get(..GRPC.len()).unwrap_or_default();
    start.eq_ignore_ascii_case(GRPC) && matches!(value.get(GRPC.len()), None | Some(b'+' | b';' | b' '))
}

impl ResponseFields {
    fn note_length(&mut self, value: &[u8]) {
        let length = decimal(value);
        let differs = self.content_length.is_some() && self.content_length != length;
        if length.is_none() || differs {
            self.malformed = true;
        }
        self.content_length = length;
    }
}

/// Whether a field may be in a message (RFC 9113 §8.2).
pub(crate) fn is_valid(name: &[u8], value: &[u8]) -> bool {
    let name_is_valid = !name.is_empty()
        && name.iter().all(|&byte| byte > b' ' && byte < 0x7f && byte != b':' && !byte.is_ascii_uppercase());
    let value_is_valid = !value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'))
        && !matches!(value, [b' ' | b'\t', ..] | [.., b' ' | b'\t']);
    name_is_valid && value_is_valid && !CONNECTION_FIELDS.contains(&name)
}

fn status_of(value: &[u8]) -> Option<u16> {
    let &[hundreds @ b'1'..=b'9', tens, ones] = value else { return None };
    (tens.is_ascii_digit() && ones.is_ascii_digit())
        .then(|| u16::from(hundreds - b'0') * 100 + u16::from(tens - b'0') * 10 + u16::from(ones - b'0'))
}

/// Parses digits and nothing else.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    let all_digits = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    all_digits.then(|| std::str::from_utf8(digits).ok()?.parse().ok()).flatten()
}
