//! [`HostStats`]: statistics of one host over a run.

use crate::host_limits::{LimitUse, SustainedShare};
use crate::{Downsampled, HostActivity, HostCounters, HostSample};

/// Thousandths of one.
const MILLI: f64 = 1_000.0;

/// Statistics of one host: its samples, evenly thinned, and the extremes of all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostStats {
    name: String,
    before: Option<HostSample>,
    last: Option<HostSample>,
    /// The sample before the latest.
    previous: Option<HostSample>,
    kept: Downsampled<HostSample>,
    peaks: HostPeaks,
    activity: HostActivity,
    cpu: SustainedShare,
    core: SustainedShare,
}

/// The highest of what was seen of a host, over all its samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostPeaks {
    /// Share of its CPUs from one sample to the next.
    pub cpu: Option<f64>,
    /// The same of its busiest CPU.
    pub hottest_core: Option<f64>,
    /// Memory in use, bytes.
    pub mem_used_bytes: u64,
    /// Established connections.
    pub tcp_established: u64,
    /// Connections in the longest accept queue.
    pub accept_queue: u64,
    /// Bits per second received.
    pub net_in_bits_per_s: Option<f64>,
    /// Bits per second sent.
    pub net_out_bits_per_s: Option<f64>,
}

impl HostStats {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Adds a sample; samples arrive in order.
    pub(crate) fn add(&mut self, sample: &HostSample) {
        let peaks = &mut self.peaks;
        peaks.mem_used_bytes = peaks.mem_used_bytes.max(sample.mem_used_bytes);
        peaks.tcp_established = peaks.tcp_established.max(sample.tcp_established);
        peaks.accept_queue = peaks.accept_queue.max(sample.accept_queue);
        if let Some(last) = &self.last {
            let higher = |most: &mut Option<f64>, now: Option<f64>| {
                *most = most.map_or(now, |most| Some(now.map_or(most, |now| now.max(most))));
            };
            let (cpu, core) = (sample.cpu_since(last), sample.hottest_core_since(last));
            higher(&mut peaks.cpu, cpu);
            higher(&mut peaks.hottest_core, core);
            if let Some(share) = cpu {
                self.cpu.add(share, sample.at);
            }
            if let Some(share) = core {
                self.core.add(share, sample.at);
            }
            let net = sample.net_since(last);
            higher(&mut peaks.net_in_bits_per_s, net.map(|(bits, _)| bits));
            higher(&mut peaks.net_out_bits_per_s, net.map(|(_, bits)| bits));
        }
        self.activity.add(sample, self.last.as_ref());
        // Counters are added up; only the archive has those of each second.
        let sample = HostSample { counters: HostCounters::default(), ..sample.clone() };
        self.before.get_or_insert_with(|| sample.clone());
        self.previous = self.last.replace(sample.clone());
        self.kept.push(sample);
    }

    /// The host's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its first sample, before the load.
    pub const fn before(&self) -> Option<&HostSample> {
        self.before.as_ref()
    }

    /// Its latest sample.
    pub const fn last(&self) -> Option<&HostSample> {
        self.last.as_ref()
    }

    /// Its two latest samples, the earlier one first; `None` before the second.
    pub fn latest_two(&self) -> Option<(&HostSample, &HostSample)> {
        self.previous.as_ref().zip(self.last.as_ref())
    }

    /// Whether it is a real machine, and no host of a lab.
    pub fn is_machine(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.cpus_milli == 0)
    }

    /// Whether load threads of wavetank ran on it.
    pub fn sends_load(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.cpu_load_ns > 0)
    }

    /// Samples that are kept, in order.
    pub fn samples(&self) -> &[HostSample] {
        self.kept.as_slice()
    }

    /// What moved on it.
    pub const fn activity(&self) -> &HostActivity {
        &self.activity
    }

    /// The highest of everything.
    pub const fn peaks(&self) -> &HostPeaks {
        &self.peaks
    }

    /// Number of CPUs that it may use; 0 if unknown.
    pub fn cpus(&self) -> f64 {
        let Some(last) = &self.last else { return 0.0 };
        if last.cpus_milli > 0 { last.cpus_milli as f64 / MILLI } else { last.cores.len() as f64 }
    }

    /// What it used of each resource with a limit. CPUs count by the highest mean over three
    /// seconds.
    pub fn limits(&self) -> Vec<LimitUse> {
        let share = |resource: &str, sustained: &SustainedShare, max: f64| {
            let (share, at) = sustained.most()?;
            let (resource, of, before) = (resource.to_owned(), String::new(), 0.0);
            Some(LimitUse { resource, of, before, used: share * max, max, at })
        };
        let cpus = [share("cpu", &self.cpu, self.cpus()), share("cpu_core", &self.core, 1.0)];
        let cpus = cpus.into_iter().flatten().filter(|limit| limit.max > 0.0);
        cpus.chain(self.activity.limits()).collect()
    }
}
