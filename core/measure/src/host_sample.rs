//! [`HostSample`]: how a host stood at one instant.

use wavetank_plan::{HostGauge, Nanos};

/// Bits of a byte.
const BITS: f64 = 8.0;
/// Thousandths of one.
const MILLI: f64 = 1_000.0;

/// How a host stood at one instant. What its kernel does not tell is 0.
///
/// Of a host of a lab, which is a network namespace and a control group, sockets and interfaces are the namespace's, and
/// memory and CPU time are the group's.
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
    /// TCP connections in state ESTABLISHED or CLOSE-WAIT (RFC 4022, `tcpCurrEstab`) of this network namespace.
    pub tcp_established: u64,
    /// Connections turned away because an accept queue was full, since the namespace was made.
    pub listen_overflows: u64,
    /// Connections in the longest accept queue.
    pub accept_queue: u64,
    /// Bytes that came in by all interfaces but `lo`, since they were made.
    pub net_in_bytes: u64,
    /// Bytes that went out by them.
    pub net_out_bytes: u64,
    /// Memory that nobody uses, bytes.
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
    /// CPU time of this process in user mode since its start, nanoseconds; of a lab's host, all its processes'.
    pub cpu_user_ns: u64,
    /// CPU time of this process in the kernel since its start, nanoseconds; of a lab's host, all its processes'.
    pub cpu_system_ns: u64,
    /// Of both, what load threads of wavetank used that send from it, nanoseconds; 0 but for a load host of a lab.
    pub cpu_load_ns: u64,
    /// Of a lab's host: the CPUs that it may use, in thousandths of one. 0: a machine, whose `cores` tell it all.
    pub cpus_milli: u64,
    /// Of each CPU of the host, in one unit: time with work, and all. Of a machine these are ticks since boot; of a
    /// lab's host nanoseconds since it was first looked at, or ticks of all that ran there where it has CPUs of its own and
    /// its group counts none, of the CPUs that it may use; empty where nobody knows.
    pub cores: Vec<(u64, u64)>,
}

/// What a gauge of a host is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GaugeSource {
    /// A value at an instant, with all there could be (0: nobody knows).
    Level(u64, u64),
    /// Something that flows: only two samples tell how fast.
    Flow,
}

impl HostSample {
    /// What `gauge` is at this instant, if it is at an instant.
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

    /// What flowed since `before`, as pairs of how much and of how much at most (or in how many seconds): the gauge's
    /// value is the highest quotient. Pairs of one host can be added up. Empty where nobody knows.
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

    /// The share of its CPUs that the host used since `before`, 0 to 1 (a little more where a tick fell across);
    /// `None` where nobody knows.
    pub fn cpu_since(&self, before: &Self) -> Option<f64> {
        highest(&self.rates_since(before, HostGauge::Cpu))
    }

    /// The same of the busiest of its CPUs.
    pub fn hottest_core_since(&self, before: &Self) -> Option<f64> {
        highest(&self.rates_since(before, HostGauge::HottestCore))
    }

    /// Bits a second that came in and went out since `before`; `None` where no time passed.
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
