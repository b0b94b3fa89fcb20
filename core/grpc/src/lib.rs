//! gRPC messages (<https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>): services and
//! messages described by `.proto` files, JSON to and from the bytes of messages, and frames.
//!
//! A call is an HTTP/2 request, and its connection, header fields and times are those of HTTP/2.
//! This crate knows what is in the bodies.
//!
//! JSON has the mapping of Protocol Buffers (<https://protobuf.dev/programming-guides/json>), with
//! two differences in what is decoded: fields that have their default are written, and integers of
//! 64 bits are numbers.

mod descriptors;
mod frame;
mod message_error;
mod method;
mod reflection;
mod timeout;

pub use descriptors::Descriptors;
pub use frame::{push as push_frame, read as read_frames};
pub use message_error::MessageError;
pub use method::{Method, RequestEncoding};
pub use reflection::{Reflection, ReflectionAnswers};
pub use timeout::timeout_text;

#[doc(hidden)]
pub mod fuzzing;
