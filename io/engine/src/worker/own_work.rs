//! [`OwnWork`]: the time for which a load thread evaluates responses and does not look at its
//! sockets.

use wavetank_plan::Nanos;
use wavetank_plan::constants::LATE_TOLERANCE;

/// The work after which the rest of a batch of events is read before any more responses are
/// evaluated. Events of the batch are stamped at most this late.
const DELAY_MAX: Nanos = Nanos::from_micros(50);

/// The work of a load thread on responses since it last waited for events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnWork {
    /// When the first of it started.
    since: Option<Nanos>,
    sum: Nanos,
}

impl OwnWork {
    /// Adds work that lasted from `from` until `until`.
    #[inline]
    pub(super) fn add(&mut self, from: Nanos, until: Nanos) {
        self.since.get_or_insert(from);
        self.sum = Nanos(self.sum.0 + until.0 - from.0);
    }

    /// Whether so much was done that events must be looked at before any more.
    #[inline]
    pub(super) fn is_long(&self) -> bool {
        self.sum > LATE_TOLERANCE
    }

    /// Whether more work would delay the stamps of events that are ready.
    #[inline]
    pub(super) fn delays_stamps(&self) -> bool {
        self.sum > DELAY_MAX
    }

    /// Returns since when events may have happened unseen, if that is long.
    #[inline]
    pub(super) fn unseen_since(&self) -> Option<Nanos> {
        self.since.filter(|_| self.is_long())
    }

    /// Returns the same as [`unseen_since`](Self::unseen_since), and starts again: the thread waits
    /// for events now.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Nanos> {
        let unseen_since = self.unseen_since();
        *self = Self::default();
        unseen_since
    }
}
