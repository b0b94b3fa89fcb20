//! All integration tests of this crate in one program, so that only one program is linked.

mod h1;
mod http2;
mod http3;
mod messages;
mod websocket;
