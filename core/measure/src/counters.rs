//! Counters. All are differences over one interval, or sums of such; gauges are named so.

use crate::{DropReason, ErrorClass};

/// Requests of one key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestCounters {
    /// Intended by the plan.
    pub offered: u64,
    /// First byte handed to the kernel.
    pub sent: u64,
    /// Full response as expected.
    pub done: u64,
    /// Begun after the late tolerance (also done or failed).
    pub late: u64,
    /// Failed, by class; index = `ErrorClass as usize`.
    pub errors: [u64; ErrorClass::ALL.len()],
    /// Never sent, by reason; index = `DropReason as usize`.
    pub dropped_by: [u64; DropReason::ALL.len()],
}

impl RequestCounters {
    /// Failed, all classes.
    pub fn failed(&self) -> u64 {
        self.errors.iter().sum()
    }

    /// Dropped, all reasons.
    pub fn dropped(&self) -> u64 {
        self.dropped_by.iter().sum()
    }

    /// Failed in a class that is the generator's doing.
    pub fn failed_by_generator(&self) -> u64 {
        let generators = ErrorClass::ALL.into_iter().filter(|class| class.is_generator());
        generators.map(|class| self.errors[class as usize]).sum()
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.offered += other.offered;
        self.sent += other.sent;
        self.done += other.done;
        self.late += other.late;
        self.errors.iter_mut().zip(other.errors).for_each(|(mine, theirs)| *mine += theirs);
        self.dropped_by.iter_mut().zip(other.dropped_by).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// Answers by status. Few distinct ones occur, so a short list beats a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusCounts(pub Vec<(u16, u64)>);

impl StatusCounts {
    /// Adds `n` responses with `status`.
    pub fn add(&mut self, status: u16, n: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == status) {
            Some((_, count)) => *count += n,
            None => self.0.push((status, n)),
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for &(status, n) in &other.0 {
            self.add(status, n);
        }
    }

    /// Answers of `status`.
    pub fn get(&self, status: u16) -> u64 {
        self.0.iter().find(|(known, _)| *known == status).map_or(0, |&(_, n)| n)
    }
}

/// Requests on the wire: `sent = requests.sent + retried + redirected + resources`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireCounters {
    /// Requests written to a connection.
    pub sent: u64,
    /// Repeated requests among them.
    pub retried: u64,
    /// Requests among them that follow a redirect.
    pub redirected: u64,
    /// Requests among them for embedded resources.
    pub resources: u64,
    /// Requests among them that are done without an answer. They have no response and no service
    /// time.
    pub one_way: u64,
}

impl WireCounters {
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.retried += other.retried;
        self.redirected += other.redirected;
        self.resources += other.resources;
        self.one_way += other.one_way;
    }
}

/// Messages on connections that carry them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounters {
    /// Handed to the kernel.
    pub sent: u64,
    /// Received in whole, also those that no request awaited.
    pub received: u64,
}

impl MessageCounters {
    /// Adds the counts of `other`.
    pub const fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.received += other.received;
    }

    /// Returns what was counted since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        let Self { sent, received } = earlier;
        Self { sent: self.sent.saturating_sub(sent), received: self.received.saturating_sub(received) }
    }
}

/// Connections (`docs/measuring.md` §2): offered = opened + failed + opening; opened = closed +
/// lost + open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnCounts {
    /// Started openings.
    pub offered: u64,
    /// Opened, including re-openings.
    pub opened: u64,
    /// Could not be opened.
    pub failed: u64,
    /// The part of `failed` with a known class; index = `ErrorClass as usize`.
    pub failed_by: [u64; ErrorClass::ALL.len()],
    /// Ended by us, or announced by `Connection: close`.
    pub closed: u64,
    /// Ended although the plan still needed them.
    pub lost: u64,
    /// The part of `lost` with a known class; index = `ErrorClass as usize`.
    pub lost_by: [u64; ErrorClass::ALL.len()],
    /// The part of `opened` that replaces lost connections.
    pub reopened: u64,
    /// Part of `offered`: openings of a hold phase that started after the late tolerance. They are
    /// opened later, never dropped.
    pub late: u64,
    /// Gauge at the seal: being opened.
    pub opening: u64,
    /// Gauge at the seal: open.
    pub open: u64,
    /// Gauge: most connections open simultaneously within the interval.
    pub peak: u64,
}

impl ConnCounts {
    /// Adds the counts of `other`. The gauges `opening`, `open` and `peak` are left unchanged: how
    /// they combine depends on whether `other` comes from another thread or from another time.
    pub fn merge(&mut self, other: &Self) {
        self.offered += other.offered;
        self.opened += other.opened;
        self.failed += other.failed;
        self.closed += other.closed;
        self.lost += other.lost;
        self.reopened += other.reopened;
        self.late += other.late;
        self.failed_by.iter_mut().zip(other.failed_by).for_each(|(mine, theirs)| *mine += theirs);
        self.lost_by.iter_mut().zip(other.lost_by).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// Packets of QUIC connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCounters {
    /// Sent, including those that replace lost ones.
    pub sent: u64,
    /// Declared lost by QUIC's loss detection (RFC 9002 §6).
    pub lost: u64,
}

impl PacketCounters {
    /// Adds the counts of `other`.
    pub const fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.lost += other.lost;
    }

    /// Returns what was counted since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        let Self { sent, lost } = earlier;
        Self { sent: self.sent.saturating_sub(sent), lost: self.lost.saturating_sub(lost) }
    }
}

/// Bytes handed to and received from the kernel for connections under load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Handed to the kernel.
    pub sent: u64,
    /// Received from the kernel.
    pub received: u64,
}

impl Bytes {
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.received += other.received;
    }
}
