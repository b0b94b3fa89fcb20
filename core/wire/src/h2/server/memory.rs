//! What a server remembers of earlier messages.

use crate::h1::{RequestHead, Version};

/// The last request's header block, and what it says.
#[derive(Debug, Default)]
pub(crate) struct LastRequest {
    /// The block, if the same bytes mean the same as long as the decoder's table does not change.
    pub(super) block: Vec<u8>,
    pub(super) changes: u64,
    /// The request in HTTP/1 text.
    pub(super) text: Vec<u8>,
    pub(super) fields: RequestFields,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestFields {
    pub(super) method_len: usize,
    pub(super) target_len: usize,
    pub(super) fields_at: usize,
    pub(super) content_length: Option<u64>,
    pub(super) expects_continue: bool,
    /// A rule of RFC 9113 §8 is broken.
    pub(super) malformed: bool,
    /// The fields are larger or more than the limits allow.
    pub(super) too_large: bool,
}

/// The head of a response and its header block.
#[derive(Debug)]
pub(super) struct RememberedResponse {
    pub(super) head: Vec<u8>,
    pub(super) block: Vec<u8>,
    pub(super) changes: u64,
}

/// The body of a response: bytes, followed by repetitions of a filler.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sent: usize,
    pub(crate) filler: &'static [u8],
    pub(crate) filler_left: u64,
    /// Field lines to be sent after it; empty for none.
    pub(crate) trailers: Vec<u8>,
    /// More bytes may follow these.
    pub(crate) stays_open: bool,
}

/// A piece of a body: its place in the bytes, or a part of the filler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyPiece {
    pub(crate) is_filler: bool,
    pub(crate) from: usize,
    pub(crate) length: usize,
}

impl ResponseBody {
    /// Takes the next piece, of at most this many bytes.
    pub(crate) fn next_piece(&mut self, bytes_max: usize) -> BodyPiece {
        let from = self.sent;
        let is_filler = from == self.bytes.len();
        if is_filler {
            let length = self.filler_left.min(self.filler.len() as u64).min(bytes_max as u64) as usize;
            self.filler_left -= length as u64;
            return BodyPiece { is_filler, from, length };
        }
        let length = (self.bytes.len() - from).min(bytes_max);
        self.sent += length;
        BodyPiece { is_filler, from, length }
    }

    /// Whether everything that is known of it was taken.
    pub(crate) const fn is_sent(&self) -> bool {
        self.sent == self.bytes.len() && self.filler_left == 0
    }
}

impl LastRequest {
    /// Whether the request breaks a rule, or is larger than allowed.
    pub(crate) const fn is_bad(&self) -> bool {
        self.fields.malformed || self.fields.too_large
    }

    /// Returns the declared length of its body.
    pub(crate) const fn content_length(&self) -> Option<u64> {
        self.fields.content_length
    }

    /// Returns its head.
    pub(crate) fn head(&self, version: Version) -> RequestHead<'_> {
        let RequestFields { method_len, target_len, fields_at, expects_continue, .. } = self.fields;
        let (method, target) = (&self.text[..method_len], &self.text[method_len + 1..][..target_len]);
        RequestHead::of_text(version, method, target, expects_continue, (&self.text, fields_at))
    }
}
