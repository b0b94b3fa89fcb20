//! The frame that ends one side of a call.

use super::{END, PREFIX_BYTES};

/// The frame that ends the client's side.
pub(super) const CLIENT_END: [u8; PREFIX_BYTES] = [END, 0, 0, 0, 0];

/// Appends the frame that ends the server's side: the status of the call, and its trailers as
/// lines.
pub(crate) fn push_end(out: &mut Vec<u8>, status: u16, trailers: &[u8]) {
    out.push(END);
    let length = u32::try_from(trailers.len() + 2).expect("trailers are limited");
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&status.to_be_bytes());
    out.extend_from_slice(trailers);
}

/// Divides what a client wrote, which is whole frames: those with messages, and whether its side
/// ends after them.
pub(crate) fn split_end(bytes: &[u8]) -> (&[u8], bool) {
    let mut at = 0;
    while let Some([flag, length @ ..]) = bytes[at..].first_chunk::<PREFIX_BYTES>() {
        if *flag == END {
            return (&bytes[..at], true);
        }
        at += PREFIX_BYTES + u32::from_be_bytes(*length) as usize;
        if at > bytes.len() {
            break;
        }
    }
    (bytes, false)
}
