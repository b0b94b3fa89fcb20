//! gRPC calls that stay open: the client's side of one call on a stream of HTTP/2.
//!
//! A stream takes the place of a connection ([`TunnelClient`](crate::h2::TunnelClient)). Both sides
//! write frames of gRPC: a flag, the length in 32 bits, and a message. The end of a side is one
//! more frame with the flag [`END`], as gRPC-Web has it. It never leaves the process: it becomes
//! the end of the stream, or is made of the trailers.
//!
//! | input | choice | why |
//! |---|---|---|
//! | a flag other than 0 and 1 | fault | PROTOCOL-HTTP2, "Compressed-Flag" |
//! | a message above the limit | fault, when its length is known | memory |
//! | a body with an HTTP status other than 200 | not read | it is no gRPC |

mod client;
mod end_frame;
#[cfg(test)]
mod tests;

pub use client::{CallEnd, Client, Fault};
pub(crate) use end_frame::{push_end, split_end};

/// The bytes before each message: a flag, and the length in 32 bits.
const PREFIX_BYTES: usize = 5;
/// The flag of the frame that ends a side.
const END: u8 = 0x80;

/// Counts the whole messages in `bytes`.
pub(crate) fn count_frames(mut bytes: &[u8]) -> u64 {
    let mut count = 0;
    while let Some(([_, length @ ..], rest)) = bytes.split_first_chunk::<PREFIX_BYTES>() {
        let Some(rest) = rest.get(u32::from_be_bytes(*length) as usize..) else { break };
        (count, bytes) = (count + 1, rest);
    }
    count
}
