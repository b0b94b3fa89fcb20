//! Streams of HTTP/2 that take the place of connections.
//!
//! [`Tunnels`] is a filter over any driver. To its caller each WebSocket, event stream and gRPC
//! call is a connection of its own, as with HTTP/1.1. Several of them share a connection of HTTP/2,
//! which the filter opens. The protocol is [`TunnelClient`](wavetank_wire::h2::TunnelClient).

mod carrier;
mod filter;
mod tunnel;

pub use filter::Tunnels;
