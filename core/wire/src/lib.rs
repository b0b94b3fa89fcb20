//! Protocol state machines: bytes in, bytes and events out.
//!
//! A protocol here is a value that is fed bytes and answers with events. It reads what belongs to it,
//! says how much that was, and keeps nothing else.
//!
//! **What a protocol must not know.** No sockets, no TLS, no files, no threads: the driver moves
//! bytes. No pacing, no clock, no timeouts: whether an answer took too long is decided by whoever
//! owns the timer. No retries, no pools, no counters, no error classes of the run: a protocol says
//! *what* was wrong with the bytes ([`h1::ParseError`]) and the engine says what that means for a request.
//! That is what lets one machine serve every driver, the target and the fuzzers alike.
//!
//! **Invariants.** Whatever bytes come, a machine does not panic, does not allocate more than its
//! limits allow, spends time linear in the bytes it is fed, and never claims to have consumed more
//! than it was given. How the bytes were cut into reads never changes what is said about them.

pub mod h1;
mod proxy_header;

pub use proxy_header::{PROXY_HEADER_BYTES_MAX, proxy_header_v1, proxy_header_v2};

#[doc(hidden)]
pub mod fuzzing;
