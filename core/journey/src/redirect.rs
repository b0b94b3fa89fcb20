//! Where a redirect leads: the address, the method, and what may be sent there.

mod hop;
mod place;

pub use hop::{Hop, RedirectFault, may_carry};
pub use place::Place;
