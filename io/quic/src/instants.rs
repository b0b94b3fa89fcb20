//! [`Instants`]: instants of the run's clock as those of the library.

use std::time::{Duration, Instant};

use wavetank_driver::Clock;
use wavetank_units::Nanos;

/// Converts instants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instants {
    clock: Clock,
    /// The same instant in both forms.
    base: (Nanos, Instant),
}

impl Instants {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, base: clock.now_with_instant() }
    }

    pub(crate) const fn clock(self) -> Clock {
        self.clock
    }

    pub(crate) fn now(self) -> Instant {
        self.instant(self.clock.now())
    }

    /// Converts an instant after the creation of this value.
    pub(crate) fn instant(self, at: Nanos) -> Instant {
        let (base, instant) = self.base;
        instant + Duration::from_nanos(at.since(base))
    }

    pub(crate) fn nanos(self, at: Instant) -> Nanos {
        let (base, instant) = self.base;
        let since = at.saturating_duration_since(instant).as_nanos();
        Nanos(base.0.saturating_add(i64::try_from(since).unwrap_or(i64::MAX)))
    }
}
