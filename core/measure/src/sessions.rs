//! [`SessionSeries`]: sessions of one scenario in one phase.

use crate::{DropReason, RequestCounters, StepSeries, Violation};

/// Counts of sessions. All are differences over one interval, or sums of such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// Wanted by the plan.
    pub offered: u64,
    /// Sessions that started: all except the dropped ones.
    pub started: u64,
    /// Came to their end, and none of their requests failed.
    pub done: u64,
    /// Ended with a failed request among theirs, or were ended for one.
    pub failed: u64,
    /// Never began, by reason; index = `DropReason as usize`. Their requests are not offered.
    pub dropped_by: [u64; DropReason::ALL.len()],
}

impl SessionCounts {
    /// Dropped, all reasons.
    pub fn dropped(&self) -> u64 {
        self.dropped_by.iter().sum()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.offered += other.offered;
        self.started += other.started;
        self.done += other.done;
        self.failed += other.failed;
        self.dropped_by.iter_mut().zip(other.dropped_by).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// Sessions of one scenario that began in one phase, however long they last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionSeries {
    /// Index into the plan's phases.
    pub phase: u16,
    /// Index into the plan's scenarios.
    pub scenario: u16,
    /// Counts.
    pub counts: SessionCounts,
    /// Gauge at the seal: offered and not ended.
    pub open: u64,
}

impl SessionSeries {
    /// Derives sessions that consist of one request each from the counters of those requests. An
    /// interval can drop more requests than it offers, since earlier ones offered them. None
    /// started in it then.
    pub fn from_requests(series: &StepSeries) -> Self {
        let RequestCounters { offered, done, dropped_by, .. } = series.counters;
        let started = offered.saturating_sub(series.counters.dropped());
        let failed = series.counters.failed();
        let counts = SessionCounts { offered, started, done, failed, dropped_by };
        Self { counts, ..Self::default() }
    }

    /// Adds the counts of `other`. The gauge `open` is left unchanged: it adds up over threads, not
    /// over time.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
    }

    /// Checks conservation: offered = done + failed + dropped + open, and every offered session
    /// started or was dropped.
    ///
    /// # Errors
    /// The identity that is violated, with the counters.
    pub fn check(&self) -> Result<(), Violation> {
        let SessionCounts { offered, started, done, failed, .. } = self.counts;
        let dropped = self.counts.dropped();
        let identity = if offered != done + failed + dropped + self.open {
            "sessions: offered = done + failed + dropped + open"
        } else if offered != started + dropped {
            "sessions: offered = started + dropped"
        } else {
            return Ok(());
        };
        let counters = vec![
            ("phase", u64::from(self.phase)),
            ("scenario", u64::from(self.scenario)),
            ("offered", offered),
            ("started", started),
            ("done", done),
            ("failed", failed),
            ("dropped", dropped),
            ("open", self.open),
        ];
        Err(Violation { key: None, identity, counters })
    }
}
