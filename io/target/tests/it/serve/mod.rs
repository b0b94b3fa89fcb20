//! The built-in server as its clients see it: real sockets, in one process.

mod answers;
mod client;
mod closing;
mod framing;
mod handshakes;
mod http3_client;
mod known;
mod shop;
mod starting;
mod tiers;
mod timing;
mod truth;
mod unread;
