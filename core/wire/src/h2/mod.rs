//! HTTP/2 (RFC 9113) and HPACK (RFC 7541).
//!
//! Requests and responses have the same form as those of [`h1`](crate::h1): a request is HTTP/1
//! text, and the fields of a response are lines. Everything that works with that text works with
//! both versions.
//!
//! Choices where the RFC leaves one:
//!
//! | subject | choice |
//! |---|---|
//! | windows for responses | 1 GiB for each stream and for the connection |
//! | header fields sent | inserted into the table when first sent, unless values keep changing |
//! | table for fields received | 4,096 bytes, the default |
//! | push | disabled; a push ends the connection |
//! | priorities | ignored, and never sent |
//! | frame on a stream that ended normally | the connection ends with `STREAM_CLOSED` |
//! | response with more or less data than `Content-Length` | the stream is reset |
//! | control frames without any progress of a request | 10,000, then the connection ends |

mod client;
mod error;
mod frame;
mod frame_reader;
mod header_block;
pub(crate) mod hpack;
pub(crate) mod request_text;
mod reset_streams;
pub(crate) mod response_fields;
pub(crate) mod server;
mod settings;
mod tunnels;

pub use client::{Client, ClientSink, StreamFailure};
pub use error::{ErrorCode, Fault};
pub use server::{Server, ServerSink, begins_http2};
pub use tunnels::{NotOpened, TunnelClient, TunnelSink};
