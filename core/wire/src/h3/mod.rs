//! HTTP/3 (RFC 9114): [`Client`] and [`Server`].
//!
//! The transport is QUIC, which this crate does not know. What QUIC delivers on its streams, and
//! what is to be sent on them, are [`records`].
//!
//! | subject | choice |
//! |---|---|
//! | header fields | static table of QPACK only (RFC 9204) |
//! | instructions of QPACK that need the dynamic table | a fault |
//! | push, priorities, datagrams | not used |
//! | unknown frames | skipped, up to 1 MiB each |
//! | unknown streams in one direction | discarded, 32 at a time |
//! | frames without progress | 10,000 of a response, or of the control stream |
//! | interim responses | 32 for each request |

#[cfg(test)]
mod bad_input;
mod client;
mod frame_reader;
mod qpack;
pub mod records;
mod server;
mod static_table;
#[cfg(test)]
mod tests;
mod uni_streams;
mod varint;

pub use client::Client;
pub use server::Server;

use crate::h2::ErrorCode;

/// Frame types (RFC 9114 §7.2).
mod frame {
    pub(super) const DATA: u64 = 0;
    pub(super) const HEADERS: u64 = 1;
    pub(super) const CANCEL_PUSH: u64 = 3;
    pub(super) const SETTINGS: u64 = 4;
    pub(super) const PUSH_PROMISE: u64 = 5;
    pub(super) const GOAWAY: u64 = 7;
    pub(super) const MAX_PUSH_ID: u64 = 13;
}

/// The setting that limits the size of header fields (RFC 9114 §7.2.4.1).
const MAX_FIELD_SECTION_SIZE: u64 = 6;

/// Appends the header of a frame.
fn push_frame_header(out: &mut Vec<u8>, kind: u64, length: usize) {
    varint::encode(out, kind);
    varint::encode(out, length as u64);
}

/// Appends the record of a control stream: its type and SETTINGS.
fn push_control_stream(out: &mut Vec<u8>, stream: u64, head_bytes_max: usize) {
    let mut settings = Vec::with_capacity(8);
    varint::encode(&mut settings, MAX_FIELD_SECTION_SIZE);
    varint::encode(&mut settings, head_bytes_max as u64);
    let mut bytes = vec![uni_streams::CONTROL as u8];
    push_frame_header(&mut bytes, frame::SETTINGS, settings.len());
    bytes.extend_from_slice(&settings);
    records::push(out, stream, records::RecordKind::Data, &bytes);
}

/// Ends a stream in both directions. One that ends in one direction only would keep its place.
fn abort(out: &mut Vec<u8>, stream: u64, code: ErrorCode) {
    for kind in [records::RecordKind::Reset, records::RecordKind::Stop] {
        records::push_code(out, stream, kind, u64::from(code.0));
    }
}
