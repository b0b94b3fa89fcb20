//! [`HostSample`]: how a host stood at one instant.

use wavetank_plan::HostGauge;
use wavetank_units::Nanos;

use crate::HostCounters;

/// Bits of a byte.
const BITS: f64 = 8.0;
/// Thousandths of one.
const MILLI: f64 = 1_000.0;

/// The state of a host at one instant. Values that the kernel does not report are 0.
///
/// A lab host is a network namespace and a control group: sockets and interfaces are those of the
/// namespace, memory and CPU time those of the group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSample {
    /// When, on the run's clock.
    pub at: Nanos,
    /// TCP sockets of this network namespace in use, in any state except `TIME_WAIT`; IPv4 and
    /// IPv6.
    pub tcp_inuse: u64,
    /// IPv6 sockets among them.
    pub tcp6_inuse: u64,
    /// Sockets that no process holds any more and that have not ended yet.
    pub tcp_orphan: u64,
    /// Connections in `TIME_WAIT`.
    pub tcp_tw: u64,
    /// TCP sockets of the whole host, in whatever state.
    pub tcp_alloc: u64,
    /// Pages of memory for what is in TCP's queues, of the whole host.
    pub tcp_mem_pages: u64,
    /// TCP connections of this network namespace in state ESTABLISHED or CLOSE-WAIT (RFC 4022,
    /// `tcpCurrEstab`).
    pub tcp_established: u64,
    /// Connections dropped because an accept queue was full, since the namespace was made.
    pub listen_overflows: u64,
    /// Connections in the longest accept queue.
    pub accept_queue: u64,
    /// Bytes received by all interfaces except `lo`, since their creation.
    pub net_in_bytes: u64,
    /// Bytes sent by them.
    pub net_out_bytes: u64,
    /// Unused memory, bytes.
    pub mem_free_bytes: u64,
    /// Memory that can be had without swapping, as the kernel estimates it, bytes.
    pub mem_available_bytes: u64,
    /// The kernel's own objects, sockets among them, bytes.
    pub slab_bytes: u64,
    /// Memory in use that cannot be had, bytes.
    pub mem_used_bytes: u64,
    /// All memory that the host may use, bytes.
    pub mem_all_bytes: u64,
    /// Memory that was swapped out, bytes.
    pub swap_bytes: u64,
    /// Memory of this process that is resident, bytes; of a lab's host, all its processes'.
    pub rss_bytes: u64,
    /// CPU time of this process in user mode since its start, nanoseconds; for a lab host, that of
    /// all its processes.
    pub cpu_user_ns: u64,
    /// CPU time of this process in the kernel since its start, nanoseconds; for a lab host, that of
    /// all its processes.
    pub cpu_system_ns: u64,
    /// Part of both: CPU time of the load threads that send from this host, nanoseconds. 0 for
    /// a host that sends no load.
    pub cpu_load_ns: u64,
    /// For a lab host: the CPUs that it may use, in thousandths of a CPU. 0 for a real machine,
    /// which is fully described by `cores`.
    pub cpus_milli: u64,
    /// For each CPU of the host: busy time and total time, in one unit. Empty if unknown.
    ///
    /// For a real machine these are ticks since boot. For a lab host they are nanoseconds since its
    /// first sample. A lab host with CPUs reserved for it uses the ticks of those CPUs if its
    /// control group does not count CPU time.
    pub cores: Vec<(u64, u64)>,
    /// What the kernel counted since the sample before.
    pub counters: HostCounters,
}

/// The source of a host gauge's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GaugeSource {
    /// A value at an instant, and the maximum possible value (0: unknown).
    Level(u64, u64),
    /// A rate, which needs two samples.
    Flow,
}

impl HostSample {
    /// The value of `gauge` at this instant, if it is not a rate.
    pub(crate) const fn reading(&self, gauge: HostGauge) -> GaugeSource {
        match gauge {
            HostGauge::Memory => GaugeSource::Level(self.mem_used_bytes, self.mem_all_bytes),
            HostGauge::Swap => GaugeSource::Level(self.swap_bytes, 0),
            HostGauge::Established => GaugeSource::Level(self.tcp_established, 0),
            HostGauge::Queue => GaugeSource::Level(self.accept_queue, 0),
            HostGauge::Cpu | HostGauge::HottestCore | HostGauge::NetIn | HostGauge::NetOut => {
                GaugeSource::Flow
            }
        }
    }

    /// Returns the flow since `before` as pairs of amount and maximum amount (or number of
    /// seconds). The gauge's value is the highest quotient. Pairs of one host can be added up.
    /// Empty if unknown.
    pub(crate) fn rates_since(&self, before: &Self, gauge: HostGauge) -> Vec<(f64, f64)> {
        let seconds = self.at.since(before.at) as f64 / 1e9;
        let bits = |of: fn(&Self) -> u64| vec![(of(self).saturating_sub(of(before)) as f64 * BITS, seconds)];
        let flow = match gauge {
            HostGauge::NetIn => bits(|sample| sample.net_in_bytes),
            HostGauge::NetOut => bits(|sample| sample.net_out_bytes),
            HostGauge::HottestCore => self.cores_since(before),
            HostGauge::Cpu if self.cpus_milli > 0 => {
                let used = |sample: &Self| sample.cpu_user_ns.saturating_add(sample.cpu_system_ns);
                let busy = used(self).saturating_sub(used(before)) as f64 / 1e9;
                vec![(busy, seconds * self.cpus_milli as f64 / MILLI)]
            }
            HostGauge::Cpu => {
                let cores = self.cores_since(before);
                let sum = |one: fn(&(f64, f64)) -> f64| cores.iter().map(one).sum::<f64>();
                vec![(sum(|core| core.0), sum(|core| core.1))]
            }
            HostGauge::Memory | HostGauge::Swap | HostGauge::Established | HostGauge::Queue => Vec::new(),
        };
        flow.into_iter().filter(|(_, most)| *most > 0.0).collect()
    }

    /// Returns the share of its CPUs that the host used since `before`: 0 to 1, or slightly more
    /// because of tick granularity. `None` if unknown.
    pub fn cpu_since(&self, before: &Self) -> Option<f64> {
        highest(&self.rates_since(before, HostGauge::Cpu))
    }

    /// The same of the busiest of its CPUs.
    pub fn hottest_core_since(&self, before: &Self) -> Option<f64> {
        highest(&self.rates_since(before, HostGauge::HottestCore))
    }

    /// The share of each CPU that the host used since `before`, 0 to 1. Empty if unknown.
    pub fn core_shares_since(&self, before: &Self) -> Vec<f64> {
        let share = |(busy, all): (f64, f64)| if all > 0.0 { (busy / all).min(1.0) } else { 0.0 };
        self.cores_since(before).into_iter().map(share).collect()
    }

    /// Bits per second received and sent since `before`; `None` if no time has passed.
    pub fn net_since(&self, before: &Self) -> Option<(f64, f64)> {
        let of = |gauge| highest(&self.rates_since(before, gauge));
        of(HostGauge::NetIn).zip(of(HostGauge::NetOut))
    }

    fn cores_since(&self, before: &Self) -> Vec<(f64, f64)> {
        if self.cores.len() != before.cores.len() {
            return Vec::new();
        }
        let both = self.cores.iter().zip(&before.cores);
        both.map(|(now, then)| (now.0.saturating_sub(then.0) as f64, now.1.saturating_sub(then.1) as f64))
            .collect()
    }
}

/// The highest quotient.
pub(crate) fn highest(flow: &[(f64, f64)]) -> Option<f64> {
    flow.iter().filter(|(_, most)| *most > 0.0).map(|(much, most)| much / most).reduce(f64::max)
}
