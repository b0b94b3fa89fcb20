//! [`HostSampler`]: samples a host that consists of a process's namespaces and control group, such
//! as a lab host.

use wavetank_measure::HostSample;
use wavetank_units::Nanos;

use crate::accept_queues::AcceptQueues;
use crate::connection_schedule::ConnectionSchedule;
use crate::counter_files::CounterFiles;
use crate::group_counts::CgroupStats;
use crate::net_files::NetFiles;
use crate::process_files::fullest_files;
use crate::process_tree::{TreeUse, process_tree};
use crate::sending_threads::{LoadThreadUsage, ThreadUse};
use crate::{parse, read};

/// The part of the machine that a host may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostQuota {
    /// The CPUs that its processes may run on; empty: all.
    pub cpus: Vec<u32>,
    /// Whether no other host uses these CPUs.
    pub cpus_alone: bool,
    /// CPU limit in thousandths of a CPU; `None` if only the number of CPUs limits it.
    pub cpus_milli: Option<u64>,
    /// Memory limit in bytes; `None`: the machine's memory.
    pub memory_bytes: Option<u64>,
    /// The interfaces with a link of a known rate, and the rate in bits per second.
    pub link_rates: Vec<(String, u64)>,
}

/// Listing all connections takes at most one part of time in this many.
const CONNECTIONS_REST: u64 = 200;

/// The sampler of one host.
#[derive(Clone, Debug)]
pub struct HostSampler {
    pid: u32,
    net: NetFiles,
    queues: AcceptQueues,
    group: CgroupStats,
    counters: CounterFiles,
    allowance: HostQuota,
    /// Load threads that send from this host. `None` until they are looked up; empty for a host
    /// that sends no load.
    senders: Option<LoadThreadUsage>,
    sending: Sending,
    /// Number of CPUs of the machine.
    machine_cpus: usize,
    machine_memory_bytes: u64,
    /// Time of the first sample.
    first: Option<Nanos>,
    connections: ConnectionSchedule,
}

/// How a host sends load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    Nothing,
    /// By load threads of this process, which are in no control group of the host.
    ThisProcess,
    /// By agents, which are processes of the host.
    Agents,
}

impl HostSampler {
    /// Returns a sampler for the host with first process `pid`, a number in this process's PID
    /// namespace.
    pub fn new(pid: u32, allowance: HostQuota) -> Self {
        let stat = read::text("/proc/stat").unwrap_or_default();
        let memory = read::text("/proc/meminfo").unwrap_or_default();
        Self {
            pid,
            net: NetFiles::for_pid(pid),
            queues: AcceptQueues::for_pid(pid),
            group: CgroupStats::for_pid(pid),
            counters: CounterFiles::for_pid(pid),
            allowance,
            senders: Some(LoadThreadUsage::default()),
            sending: Sending::Nothing,
            machine_cpus: parse::cores(&stat).len().max(1),
            machine_memory_bytes: parse::memory_bytes(&memory, "MemTotal:").unwrap_or(0),
            first: None,
            connections: ConnectionSchedule::one_part_in(CONNECTIONS_REST),
        }
    }

    /// Returns a sampler for a host that load threads of this process send from. The first sample
    /// looks them up, so they must exist by then. They are included from that sample on.
    #[must_use]
    pub fn sending(self) -> Self {
        Self { senders: None, sending: Sending::ThisProcess, ..self }
    }

    /// Returns a sampler for a host with agents that send the load. Their load threads must exist
    /// by the first sample, too.
    #[must_use]
    pub fn sending_by_agents(self) -> Self {
        Self { senders: None, sending: Sending::Agents, ..self }
    }

    /// Whether load threads send from this host.
    pub fn is_sending(&self) -> bool {
        self.sending != Sending::Nothing
    }

    /// Returns a sample, which costs a few small files. Its time is when the sockets were counted,
    /// according to `now`. Returns `None` if the host's process has ended.
    pub fn sample(&mut self, now: impl Fn() -> Nanos) -> Option<HostSample> {
        let net = self.net.sample(&now)?;
        let found = self.queues.sample();
        let mut counters = self.counters.sample(self.group.quota().as_deref(), &self.allowance.link_rates);
        let ports = self.counters.local_ports();
        self.connections.add(&mut counters, (&net, ports), (&mut self.queues, &found.samples), &now);
        found.add_uneven(&mut counters);
        // Load threads have limits of their own.
        if let Some((open, limit)) = fullest_files(self.pid).filter(|_| !self.is_sending()) {
            let levels = [("process_files.open", open), ("process_files.limit", limit)];
            counters.levels.extend(levels.map(|(name, value)| (name.to_owned(), value)));
            counters.levels.sort();
        }
        counters.listeners = found.samples;
        let first = *self.first.get_or_insert(net.at);
        // Values that no group counts are summed process by process.
        let (cpu, memory) = (self.group.cpu(), self.group.memory());
        let counted = cpu.is_some() && memory.is_some();
        let tree = if counted { TreeUse::default() } else { process_tree(self.pid) };
        let (user_ns, system_ns) = cpu.unwrap_or((tree.cpu_user_ns, tree.cpu_system_ns));
        let memory = memory.unwrap_or_default();
        let senders = self.senders.get_or_insert_with(|| match self.sending {
            Sending::Agents => LoadThreadUsage::threads_under(self.pid),
            Sending::ThisProcess | Sending::Nothing => LoadThreadUsage::other_threads_of(self.pid),
        });
        senders.sample();
        let sent = senders.used();
        // The host's own processes are in its control group.
        let added = if self.sending == Sending::Agents { ThreadUse::default() } else { sent };
        Some(HostSample {
            accept_queue: found.longest_queue,
            mem_used_bytes: memory.used.unwrap_or(tree.rss_bytes),
            mem_all_bytes: self.allowance.memory_bytes.unwrap_or(self.machine_memory_bytes),
            swap_bytes: memory.swap,
            rss_bytes: memory.rss.unwrap_or(tree.rss_bytes),
            cpu_user_ns: user_ns + added.user_ns,
            cpu_system_ns: system_ns + added.system_ns,
            cpu_load_ns: sent.all_ns(),
            cpus_milli: self.cpus_milli(),
            cores: self.cores(net.at.since(first)),
            counters,
            ..net
        })
    }

    /// Returns the thousandths of a CPU that it may use.
    fn cpus_milli(&self) -> u64 {
        let cpus = if self.allowance.cpus.is_empty() { self.machine_cpus } else { self.allowance.cpus.len() };
        let all = cpus as u64 * 1_000;
        self.allowance.cpus_milli.map_or(all, |most| most.min(all)).max(1)
    }

    /// Returns busy time and observed time of each CPU that the host may use. If its group does not
    /// count single CPUs, but no other lab host shares its CPUs, the result is busy ticks of any
    /// process and all ticks.
    fn cores(&self, elapsed_ns: u64) -> Vec<(u64, u64)> {
        let used = self.group.cpu_per_process();
        if used.is_empty() && self.allowance.cpus_alone {
            let stat = read::text("/proc/stat").unwrap_or_default();
            let own = self.allowance.cpus.iter().map(|cpu| parse::core(&stat, *cpu));
            return own.collect::<Option<Vec<_>>>().unwrap_or_default();
        }
        let allowed = |cpu: usize| {
            self.allowance.cpus.is_empty()
                || self.allowance.cpus.contains(&u32::try_from(cpu).unwrap_or(u32::MAX))
        };
        let others = self.senders.as_ref().filter(|_| self.sending == Sending::ThisProcess);
        let sent = |cpu| others.map_or(Some(0), |senders| senders.used_of(cpu));
        // The kernel also lists CPUs that could be plugged in.
        let there = used.into_iter().take(self.machine_cpus.max(self.highest())).enumerate();
        let own = there.filter(|(cpu, _)| allowed(*cpu));
        // If load threads run on several CPUs, the usage of each single CPU is unknown.
        own.map(|(cpu, used)| Some((used + sent(cpu)?, elapsed_ns)))
            .collect::<Option<_>>()
            .unwrap_or_default()
    }

    /// Returns one more than the highest CPU that it may use.
    fn highest(&self) -> usize {
        self.allowance.cpus.iter().max().map_or(0, |cpu| *cpu as usize + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does work that is long enough for the kernel's clock.
    fn work() -> u64 {
        (0..20_000_000_u64).fold(0, |sum, number| sum ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    #[test]
    fn this_process_can_be_looked_at_like_a_host() {
        let mut watch = HostSampler::new(std::process::id(), HostQuota::default());
        let before = watch.sample(|| Nanos::ZERO).expect("this process lives");
        let used = |sample: &HostSample| sample.cpu_user_ns + sample.cpu_system_ns;
        let mut after = before.clone();
        for round in 1..1_000 {
            std::hint::black_box(work());
            after = watch.sample(|| Nanos::from_secs(round)).expect("this process lives");
            if used(&after) > used(&before) {
                break;
            }
        }
        assert!(used(&after) > used(&before), "{before:?} {after:?}");
        assert!(after.mem_used_bytes > 0 && after.mem_all_bytes > after.mem_used_bytes, "{after:?}");
        assert!(after.rss_bytes > 0 && after.cpus_milli >= 1_000, "{after:?}");
        assert!(after.cores.iter().all(|(_, elapsed)| *elapsed == after.at.since(before.at)), "{after:?}");
    }

    #[test]
    fn an_allowance_bounds_what_is_all_of_it() {
        let check = |cpus: &[u32], milli: Option<u64>, expected: u64| {
            let allowance = HostQuota { cpus: cpus.to_vec(), cpus_milli: milli, ..HostQuota::default() };
            let watch = HostSampler { machine_cpus: 4, ..HostSampler::new(std::process::id(), allowance) };
            assert_eq!(watch.cpus_milli(), expected, "{cpus:?} {milli:?}");
        };
        check(&[], None, 4_000);
        check(&[1, 3], None, 2_000);
        check(&[], Some(1_500), 1_500);
        check(&[1], Some(1_500), 1_000);
    }

    #[test]
    fn single_cpus_are_named_where_their_owner_is_known() {
        let check = |cpus: &[u32], cpus_alone, expected: usize| {
            let allowance = HostQuota { cpus: cpus.to_vec(), cpus_alone, ..HostQuota::default() };
            // As with version 2 of control groups, single CPUs are not counted.
            let group = CgroupStats::default();
            let watch = HostSampler { group, ..HostSampler::new(std::process::id(), allowance) };
            let cores = watch.cores(5);
            assert_eq!(cores.len(), expected, "{cpus:?} {cpus_alone}");
            assert!(cores.iter().all(|(work, all)| work <= all && *all > 0), "{cores:?}");
        };
        check(&[0], true, 1);
        check(&[0], false, 0);
        check(&[], false, 0);
        check(&[0, 1 << 20], true, 0);
    }

    #[test]
    fn a_process_that_is_gone_has_no_sample() {
        assert_eq!(HostSampler::new(u32::MAX, HostQuota::default()).sample(|| Nanos::ZERO), None);
    }
}
