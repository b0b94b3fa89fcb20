//! [`Observations`]: what was seen beside the load, second by second: this host, and the target's own count.

use wavetank_plan::Nanos;

use crate::{Downsampled, HostSample, HostStats};

/// How it stood with the target's connections at one instant, by its own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetSample {
    /// When it was asked, on the run's clock.
    pub asked: Nanos,
    /// The instant that it speaks of.
    pub at: Nanos,
    /// How far that may be off: 0 where both sides have one clock.
    pub error: Nanos,
    /// Open connections, those of who asks excepted.
    pub open: u64,
    /// Accepted since its counts began.
    pub accepted: u64,
    /// Ended since then.
    pub closed: u64,
    /// Of them, those that broke.
    pub reset: u64,
    /// Most open at once since then.
    pub peak: u64,
}

/// Hosts beside this one that are kept a book of at most.
const OTHERS_MAX: usize = 1_024;

/// What was seen beside the load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    host_before: Option<HostSample>,
    target_before: Option<TargetSample>,
    host: Downsampled<HostSample>,
    rss_max_bytes: u64,
    target: Downsampled<TargetSample>,
    others: Vec<HostStats>,
}

impl Observations {
    /// A sample of this host; they come in order.
    pub(crate) fn add_host(&mut self, sample: &HostSample) {
        // The archive keeps them; nothing here asks for single CPUs.
        let sample = HostSample { cores: Vec::new(), ..sample.clone() };
        self.rss_max_bytes = self.rss_max_bytes.max(sample.rss_bytes);
        self.host_before.get_or_insert_with(|| sample.clone());
        self.host.push(sample);
    }

    /// A sample of another host, a lab's; those of one host come in order.
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

    /// A sample of the target; they come in order.
    pub(crate) fn add_target(&mut self, sample: TargetSample) {
        self.target_before.get_or_insert(sample);
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

    /// Most memory of this program that a sample of this host found resident, thinned out or not.
    pub const fn rss_max_bytes(&self) -> u64 {
        self.rss_max_bytes
    }

    /// The other hosts that were observed, in the order in which they were first seen.
    pub fn other_hosts(&self) -> &[HostStats] {
        &self.others
    }

    /// The target's samples that are kept, in order.
    pub fn target(&self) -> &[TargetSample] {
        self.target.as_slice()
    }

    /// The first of all: before the load.
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
