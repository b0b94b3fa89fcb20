//! [`DeferredSend`]: a request that leaves with the next wait of the driver.

use wavetank_driver::ConnId;
use wavetank_units::Nanos;

use crate::slab::Id;

/// A request that was handed to the driver.
pub(crate) struct DeferredSend {
    pub(super) conn: ConnId,
    pub(crate) exchange: Id,
    /// When it was handed over.
    pub(crate) at: Nanos,
}
