//! Protocol state machines: bytes in, bytes and events out.
//!
//! A protocol here is a value that is fed bytes and returns events. It reads the bytes that belong
//! to it, returns how many those were, and keeps nothing else.
//!
//! **What a protocol must not know.** It knows no sockets, TLS, files or threads, because the
//! driver moves the bytes. It knows no pacing, clock or timeouts, because the owner of the timer
//! decides whether a response took too long. It knows no retries, pools, counters or error classes
//! of the run. A protocol says *what* was wrong with the bytes ([`h1::ParseError`]), and the engine
//! decides what that means for a request. One state machine can therefore serve every driver, the
//! target and the fuzzers.
//!
//! **Invariants.** For any input, a state machine does not panic and does not allocate more than
//! its limits allow. It spends time linear in the bytes it is fed, and never claims to have
//! consumed more than it received. How the bytes were cut into reads never changes the result.

pub mod datagram;
mod fields;
pub mod grpc;
pub mod h1;
pub mod h2;
pub mod h3;
pub mod messages;
mod proxy_header;
pub mod raw;
pub mod sse;
pub mod streams;
pub mod ws;

pub use proxy_header::{PROXY_HEADER_BYTES_MAX, proxy_header_v1, proxy_header_v2};

#[doc(hidden)]
pub mod fuzzing;
