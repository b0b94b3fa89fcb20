//! What is read of the response to a gRPC call: its status and the frames of its messages.

use super::super::error::Fault;
use super::super::response_fields::GrpcFields;

/// The bytes before each message: a flag, and the length in 32 bits.
const PREFIX_BYTES: usize = 5;
/// The status of a response without one (UNKNOWN), and of one with a status that has no meaning.
const UNKNOWN: u16 = 2;
/// The largest status with a meaning.
const STATUS_MAX: u16 = 16;

/// The response to a gRPC call, as far as it has arrived.
#[derive(Debug, Default)]
pub(in crate::h2) struct GrpcResponse {
    status: Option<u16>,
    /// `status` is that of the head, which counts only if nothing follows the head.
    is_of_head: bool,
    prefix: [u8; PREFIX_BYTES],
    /// Bytes of the prefix that have arrived.
    prefix_len: usize,
    /// Bytes of the message that must still arrive.
    left: u32,
    /// The body is no gRPC.
    is_other: bool,
    /// Messages may be compressed.
    has_encoding: bool,
}

impl GrpcResponse {
    /// Creates one that only finds where the frames end.
    pub(in crate::h2) fn counting() -> Self {
        Self { has_encoding: true, ..Self::default() }
    }

    /// Reads the fields of the head, with its status of HTTP.
    pub(super) fn take_head(&mut self, http: u16, fields: GrpcFields) {
        self.is_other = http != 200 || fields.has_other_type;
        self.has_encoding = fields.has_encoding;
        self.status = fields.status.map(known_status);
        self.is_of_head = true;
    }

    /// Reads the status of the trailers, if they have one.
    pub(super) fn take_trailers(&mut self, status: Option<u16>) {
        self.status = status.map(known_status);
        self.is_of_head = false;
    }

    /// Reads a piece of the body. Returns the number of messages that are complete with it.
    pub(in crate::h2) fn take_body(&mut self, mut bytes: &[u8]) -> Result<u64, Fault> {
        let mut complete = 0;
        if self.is_other {
            return Ok(complete);
        }
        if self.is_of_head && !bytes.is_empty() {
            (self.status, self.is_of_head) = (None, false);
        }
        while !bytes.is_empty() {
            if self.left > 0 {
                let taken = bytes.len().min(self.left as usize);
                self.left -= taken as u32;
                complete += u64::from(self.left == 0);
                bytes = &bytes[taken..];
                continue;
            }
            self.prefix[self.prefix_len] = bytes[0];
            self.prefix_len += 1;
            bytes = &bytes[1..];
            if self.prefix_len == PREFIX_BYTES {
                let [flag, length @ ..] = self.prefix;
                (self.left, self.prefix_len) = (u32::from_be_bytes(length), 0);
                match flag {
                    0 => {}
                    1 if self.has_encoding => {}
                    1 => return Err(Fault::GrpcCompression),
                    _ => return Err(Fault::GrpcFlag),
                }
                complete += u64::from(self.left == 0);
            }
        }
        Ok(complete)
    }

    /// Whether the body ends between two frames.
    pub(in crate::h2) const fn is_whole(&self) -> bool {
        self.left == 0 && self.prefix_len == 0
    }

    /// Returns the status of the call. Without one, the HTTP status says more than UNKNOWN, if it
    /// is an error. What is no gRPC is no success.
    pub(super) fn status(&self, http: u16) -> u16 {
        let status = self.status.filter(|status| *status != 0 || !self.is_other);
        status.unwrap_or(if http < 400 { UNKNOWN } else { http })
    }
}

/// Returns the status; one without a meaning is `UNKNOWN`.
const fn known_status(status: u16) -> u16 {
    if status > STATUS_MAX { UNKNOWN } else { status }
}
