//! Fuzz targets as plain functions, for stable Rust and cargo-fuzz alike.
//!
//! Each target reads the same bytes whole, byte by byte, and in pieces of sizes derived from the
//! bytes. It panics if the readers report different results, or if they claim more bytes than they
//! received.

mod calls;
mod datagrams;
mod events;
mod http2;
mod http3;
mod request;
mod response;
mod transcript;
mod tunnels;
mod websocket;

pub use calls::grpc_call;
pub use datagrams::datagrams;
pub use events::{event_stream, raw_bytes};
pub use http2::{http2_client, http2_server};
pub use http3::{http3_client, http3_server};
pub use request::request;
pub use response::response;
pub use tunnels::http2_tunnels;
pub use websocket::{websocket_client, websocket_server};
