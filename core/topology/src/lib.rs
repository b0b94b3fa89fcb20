//! A lab on paper: the topology file's text in, a [`Lab`] and remarks about it out, and the configurations made of it.
//!
//! Nothing here creates anything: what a lab is, whether it can be, and what its programs are told is decided by pure
//! functions, so that every mistake is known before the first namespace.

mod model;

pub use model::*;
pub use wavetank_plan::Network as Subnet;
