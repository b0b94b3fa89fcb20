//! [`OwnWork`]: the time for which a load thread evaluates responses and does not look at its
//! sockets.

use wavetank_plan::constants::LATE_TOLERANCE;
use wavetank_units::Nanos;

/// The work after which the rest of a batch of events is read before any more responses are
/// evaluated. Events of the batch are stamped at most this late.
const DELAY_MAX: Nanos = Nanos::from_micros(50);

/// The work of a load thread on responses since it last looked at its sockets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnWork {
    sum: Nanos,
}

impl OwnWork {
    /// Adds work that lasted from `from` until `until`.
    #[inline]
    pub(super) fn add(&mut self, from: Nanos, until: Nanos) {
        self.sum = Nanos(self.sum.0 + until.0 - from.0);
    }

    /// Whether so much was done that the thread must look at its sockets before any more.
    #[inline]
    pub(super) fn is_long(self) -> bool {
        self.sum > LATE_TOLERANCE
    }

    /// Whether more work would delay the stamps of events that are ready.
    #[inline]
    pub(super) fn delays_stamps(self) -> bool {
        self.sum > DELAY_MAX
    }
}
