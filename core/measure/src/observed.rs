//! [`Observed`]: what was seen beside the load, second by second: this host, and the target's own count.

use wavetank_plan::Nanos;

use crate::Thinned;

/// How a host stood at one instant. What its kernel does not tell is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSample {
    /// When, on the run's clock.
    pub at: Nanos,
    /// TCP sockets of this network namespace that are in use, whatever their state but `TIME_WAIT`: IPv4 and IPv6.
    pub tcp_inuse: u64,
    /// Of them, IPv6.
    pub tcp6_inuse: u64,
    /// Sockets that nobody holds any more and that have not ended yet.
    pub tcp_orphan: u64,
    /// Connections in `TIME_WAIT`.
    pub tcp_tw: u64,
    /// TCP sockets of the whole host, in whatever state.
    pub tcp_alloc: u64,
    /// Pages of memory for what is in TCP's queues, of the whole host.
    pub tcp_mem_pages: u64,
    /// Memory that nobody uses, bytes.
    pub mem_free_bytes: u64,
    /// Memory that can be had without swapping, as the kernel estimates it, bytes.
    pub mem_available_bytes: u64,
    /// The kernel's own objects, sockets among them, bytes.
    pub slab_bytes: u64,
    /// Memory of this process that is resident, bytes.
    pub rss_bytes: u64,
    /// CPU time of this process in user mode since its start, nanoseconds.
    pub cpu_user_ns: u64,
    /// CPU time of this process in the kernel since its start, nanoseconds.
    pub cpu_system_ns: u64,
    /// Of each CPU of the host, ticks since boot: those with work, and all.
    pub cores: Vec<(u64, u64)>,
}

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

/// What was seen beside the load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    host_before: Option<HostSample>,
    target_before: Option<TargetSample>,
    host: Thinned<HostSample>,
    target: Thinned<TargetSample>,
}

impl Observed {
    /// A sample of this host; they come in order.
    pub(crate) fn add_host(&mut self, sample: &HostSample) {
        // The archive keeps them; nothing here asks for single CPUs.
        let sample = HostSample { cores: Vec::new(), ..sample.clone() };
        self.host_before.get_or_insert_with(|| sample.clone());
        self.host.push(sample);
    }

    /// A sample of the target; they come in order.
    pub(crate) fn add_target(&mut self, sample: TargetSample) {
        self.target_before.get_or_insert(sample);
        self.target.push(sample);
    }

    /// The host's samples that are kept, in order.
    pub fn host(&self) -> &[HostSample] {
        self.host.kept()
    }

    /// The first of all: before the load.
    pub const fn host_before(&self) -> Option<&HostSample> {
        self.host_before.as_ref()
    }

    /// The target's samples that are kept, in order.
    pub fn target(&self) -> &[TargetSample] {
        self.target.kept()
    }

    /// The first of all: before the load.
    pub const fn target_before(&self) -> Option<TargetSample> {
        self.target_before
    }

    /// The host at the instant nearest to `at`.
    pub fn host_at(&self, at: Nanos) -> Option<&HostSample> {
        self.host.kept().iter().min_by_key(|sample| sample.at.0.abs_diff(at.0))
    }

    /// The target at the instant nearest to `at`.
    pub fn target_at(&self, at: Nanos) -> Option<TargetSample> {
        self.target.kept().iter().copied().min_by_key(|sample| sample.at.0.abs_diff(at.0))
    }
}
