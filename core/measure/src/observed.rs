//! [`Observations`]: samples taken in parallel with the load, second by second: this host, and the
//! target's own counts.

use wavetank_plan::THIS_HOST;
use wavetank_units::Nanos;

use crate::{Downsampled, HostCounters, HostSample, HostStats};

/// The target's connections at one instant, by its own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetSample {
    /// When the target was asked, on the run's clock.
    pub asked: Nanos,
    /// The instant that it speaks of.
    pub at: Nanos,
    /// Maximum error of that instant: 0 if both sides use one clock.
    pub error: Nanos,
    /// Open connections, without those used to ask for the count.
    pub open: u64,
    /// Accepted since its counts began.
    pub accepted: u64,
    /// Ended since then.
    pub closed: u64,
    /// Connections among them that were reset.
    pub reset: u64,
    /// Most connections open simultaneously since then.
    pub peak: u64,
}

/// Most other hosts that are tracked in addition to this one.
const OTHERS_MAX: usize = 1_024;

/// Samples taken in parallel with the load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    host_before: Option<HostSample>,
    target_before: Option<TargetSample>,
    host: Downsampled<HostSample>,
    rss_max_bytes: u64,
    target: Downsampled<TargetSample>,
    others: Vec<HostStats>,
    this: Option<HostStats>,
}

impl Observations {
    /// Adds a sample of this host; samples arrive in order.
    pub(crate) fn add_host(&mut self, sample: &HostSample) {
        if is_whole(sample) {
            self.this.get_or_insert_with(|| HostStats::new(THIS_HOST)).add(sample);
        }
        // Only the archive keeps data of single CPUs and counters; they are not needed here.
        let counters = HostCounters::default();
        let sample = HostSample { cores: Vec::new(), counters, ..sample.clone() };
        self.rss_max_bytes = self.rss_max_bytes.max(sample.rss_bytes);
        self.host_before.get_or_insert_with(|| sample.clone());
        self.host.push(sample);
    }

    /// Adds a sample of another host, one of a lab; samples of one host arrive in order.
    pub(crate) fn add_other(&mut self, name: &str, sample: &HostSample) {
        let at = self.others.iter().position(|book| book.name() == name);
        let at = at.or_else(|| {
            let room = self.others.len() < OTHERS_MAX;
            room.then(|| self.others.push(HostStats::new(name))).map(|()| self.others.len() - 1)
        });
        if let Some(at) = at {
            self.others[at].add(sample);
        }
    }

    /// Adds a sample of the target; samples arrive in order.
    pub(crate) fn add_target(&mut self, sample: TargetSample) {
        // On a busy host the first sample may come after the start of the load.
        if sample.at <= Nanos::ZERO {
            self.target_before.get_or_insert(sample);
        }
        self.target.push(sample);
    }

    /// The host's samples that are kept, in order.
    pub fn host(&self) -> &[HostSample] {
        self.host.as_slice()
    }

    /// The first of all: before the load.
    pub const fn host_before(&self) -> Option<&HostSample> {
        self.host_before.as_ref()
    }

    /// The highest resident memory of this program in any sample of this host, including dropped
    /// samples.
    pub const fn rss_max_bytes(&self) -> u64 {
        self.rss_max_bytes
    }

    /// This host with its counters and limits. `None` in a lab, which samples each of its hosts.
    pub const fn this_host(&self) -> Option<&HostStats> {
        self.this.as_ref()
    }

    /// The other hosts that were observed, in the order in which they were first seen.
    pub fn other_hosts(&self) -> &[HostStats] {
        &self.others
    }

    /// The target's samples that are kept, in order.
    pub fn target(&self) -> &[TargetSample] {
        self.target.as_slice()
    }

    /// The target before the load; `None` if it was asked too late.
    pub const fn target_before(&self) -> Option<TargetSample> {
        self.target_before
    }

    /// The host at the instant nearest to `at`.
    pub fn host_at(&self, at: Nanos) -> Option<&HostSample> {
        self.host.as_slice().iter().min_by_key(|sample| sample.at.0.abs_diff(at.0))
    }

    /// The target at the instant nearest to `at`.
    pub fn target_at(&self, at: Nanos) -> Option<TargetSample> {
        self.target.as_slice().iter().copied().min_by_key(|sample| sample.at.0.abs_diff(at.0))
    }
}

/// Whether a sample of this host has its counters and limits.
pub(crate) const fn is_whole(sample: &HostSample) -> bool {
    !sample.counters.levels.is_empty()
}
