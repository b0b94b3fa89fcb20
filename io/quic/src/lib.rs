//! QUIC (RFC 9000) between a driver and its caller.
//!
//! [`Quic`] is a filter over any driver: dials that ask for TLS get QUIC on a UDP socket of their
//! own. [`QuicListener`] is a driver that accepts connections of any number of clients on one
//! socket. Neither knows what the streams carry: [`records`](wavetank_wire::h3::records) of
//! them take the place of bytes.
//!
//! The protocol itself is `quinn-proto`, which has no sockets, threads or clock.

mod config;
mod connection;
mod filter;
mod instants;
mod keep_alive;
mod listener;
mod timers;

pub use filter::Quic;
pub use listener::QuicListener;
