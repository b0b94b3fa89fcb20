//! WebSocket (RFC 6455) with permessage-deflate (RFC 7692): a client and a server.
//!
//! A connection starts as HTTP/1.1 and is upgraded ([`Client::connect`], [`Upgrade`]). After that,
//! both sides send messages. The readers are strict: what RFC 6455 forbids is a [`Fault`], with the
//! close code that the peer gets for it. Messages are passed on in pieces as they arrive, so a long
//! one needs no memory here.
//!
//! | input | choice | why |
//! |---|---|---|
//! | a reserved bit or opcode | fault 1002 | §5.2 |
//! | a length that is not in its shortest form | fault 1002 | §5.2 |
//! | a masked frame of a server, an unmasked one of a client | fault 1002 | §5.1 |
//! | text that is not UTF-8 | fault 1007, as soon as it is certain | §8.1 |
//! | a message above the limit, also after inflating | fault 1009 | §7.4.1 |
//! | a message in more than 65,536 fragments | fault 1009 | empty ones could go on forever |
//! | data after a Close frame | discarded | §5.5.1 |
//! | a close code that must not be sent | fault 1002 | §7.4 |
//! | an extension, or a parameter of it, that was not offered | refused | §9.1 |
//! | status 101 with HTTP/1.0, a field of the upgrade twice | refused | §4.1, §11.3 |
//! | more than 16 interim responses | refused | memory and time |

#[cfg(test)]
mod autobahn;
#[cfg(test)]
mod bad_input;
mod client;
mod close;
mod deflate;
mod error;
mod frame;
mod handshake;
mod message_reader;
mod server;
mod utf8;

#[cfg(test)]
mod tests;

pub use client::{Client, ClientSink};
pub use close::CloseCode;
pub use deflate::Deflater;
pub use error::Fault;
pub use frame::MessageKind;
pub use handshake::{Upgrade, accept_key};
pub use message_reader::{Limits, MessageSink};
pub use server::{Server, ServerSink};
