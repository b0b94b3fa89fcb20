//! UDP: datagrams, and which of them answers a step.
//!
//! A datagram is read whole. It answers the one that was sent last, unless bytes are compared and
//! differ. Then it answers an earlier one, too late, and it is discarded.

mod client;

#[cfg(test)]
mod tests;

pub use client::{Client, DATAGRAM_BYTES_MAX, MatchedRange, SendFault};
