//! Server-sent events (WHATWG HTML §9.2): the client's side of an event stream over HTTP/1.1.
//!
//! A stream is the body of a response with the type `text/event-stream`. Its framing is read as
//! that of any response; its lines become events. An event is kept only as long as it is
//! incomplete, and its size is limited.
//!
//! | input | choice | why |
//! |---|---|---|
//! | a line that ends in CR, LF or CRLF | a line | §9.2.5 |
//! | a byte order mark at the start | discarded | §9.2.6 |
//! | an event without data | no event; its id is kept | §9.2.6 |
//! | a comment, an unknown field, `retry` | ignored | §9.2.6 |
//! | an id with a NUL, or longer than 1 KiB | ignored | §9.2.6; memory |
//! | an event above the limit, or a line of one | a fault | memory |
//! | an incomplete event at the end | discarded | §9.2.6 |
//! | another media type with status 200 | a fault | §9.2.2 |

#[cfg(test)]
mod bad_input;
mod client;
mod error;
mod parser;

#[cfg(test)]
mod tests;

pub use client::Client;
pub use error::Fault;
