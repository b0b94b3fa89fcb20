//! [`RendezvousRelease`]: users who waited for each other at a rendezvous and left together.

use wavetank_units::Nanos;

/// One release of users from a rendezvous. Each load thread reports its own users; merging gives
/// all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RendezvousRelease {
    /// Index into the plan's phases: that of the sessions that met.
    pub phase: u16,
    /// Index into [`wavetank_plan::SharedPlan::rendezvous`].
    pub place: u16,
    /// Number of earlier releases at this place in this phase.
    pub number: u64,
    /// Number of users required for a release, the same on all threads.
    pub of: u64,
    /// Number of users who were present and left.
    pub present: u64,
    /// The wait was over before all were there.
    pub by_wait: bool,
    /// Number of these users who have sent their next request.
    pub sent: u64,
    /// When the first and the last of these requests were sent, on the run's clock; meaningless
    /// while `sent` is 0.
    pub first_sent: Nanos,
    /// See `first_sent`.
    pub last_sent: Nanos,
}

impl RendezvousRelease {
    /// Most releases reported in one interval; further ones are only counted.
    pub const SHOWN_MAX: usize = 1_000;

    /// The identifying numbers: phase, place, number.
    pub const fn name(&self) -> (u16, u16, u64) {
        (self.phase, self.place, self.number)
    }

    /// Records that one of the released users sent its next request at `at`.
    pub fn sent_at(&mut self, at: Nanos) {
        self.first_sent = if self.sent == 0 { at } else { self.first_sent.min(at) };
        self.last_sent = if self.sent == 0 { at } else { self.last_sent.max(at) };
        self.sent += 1;
    }

    /// The time from the first to the last sent request; `None` before the first.
    pub fn skew(&self) -> Option<Nanos> {
        (self.sent > 0).then(|| Nanos(self.last_sent.since(self.first_sent).cast_signed()))
    }

    /// Adds what another thread, or the same one later, reported for the same release.
    pub fn merge(&mut self, other: &Self) {
        self.of = self.of.max(other.of);
        self.present += other.present;
        self.by_wait |= other.by_wait;
        if other.sent > 0 {
            let (first, last) = (other.first_sent, other.last_sent);
            self.first_sent = if self.sent == 0 { first } else { self.first_sent.min(first) };
            self.last_sent = if self.sent == 0 { last } else { self.last_sent.max(last) };
            self.sent += other.sent;
        }
    }
}
