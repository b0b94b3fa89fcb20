//! Both ends of a network measurement, with blocking sockets and a thread for each stream.
//!
//! [`NetServer`] answers only to clients that have its token, for a limited time and a limited
//! number of them. It opens no connection: data goes over connections that a client has opened.
//! Datagrams go to the address that a sealed datagram came from, if that is the client's.
//! [`NetClient`] makes the measurements of a pair.

mod client;
mod control;
mod error;
mod interface;
mod pacing;
mod server;
mod streams;

pub use client::{MeasuredPair, NetClient, PairContext, measure_pair};
pub use server::{NetServer, ServerLimits, random_token};
