//! io\_uring: what of it this host lets us use.

mod buffers;
mod entries;
mod probe;

pub use probe::{UringFacts, UringMissing, probe_uring};
