//! Instants of events, apart from the time of this thread's own work.

use wavetank_driver::{Driver, Event};
use wavetank_units::Nanos;

use super::Connections;

impl<D: Driver> Connections<D> {
    /// Returns `at`, or the end of this thread's last work if that is later.
    ///
    /// One reading of the clock serves until the next call into the kernel, or until a request was
    /// written or a response evaluated. The time of our own work is never attributed to the target.
    #[inline]
    pub(crate) fn fresh(&self, at: Nanos) -> Nanos {
        at.max(self.worked_until)
    }

    /// Returns when this thread's work on a request ended, which is now.
    pub(crate) fn end_work(&mut self) -> Nanos {
        self.worked_until = self.driver.now();
        self.worked_until
    }

    /// Returns when `event`, which was read at `at`, had happened. The thread did not look at its
    /// sockets from `since` on: it was at work, or did not run. `None`: only the kernel knows.
    pub(crate) fn happened(&mut self, event: &Event, at: Nanos, since: Nanos) -> Option<Nanos> {
        let (Event::Received(conn, _) | Event::Connected(conn) | Event::Secured(conn)) = *event else {
            return None;
        };
        let age = self.driver.last_received_age(conn)?;
        self.worked_until = self.driver.now();
        Some(Nanos(self.worked_until.0 - age.0).max(since).min(at))
    }
}
