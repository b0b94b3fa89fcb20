//! [`MachineCounters`]: what a machine counts as a whole, for no network or control group of its
//! own.

use std::collections::BTreeMap;

use crate::counter_text::{self, Counters};
use crate::read;
use crate::sibling_cores::SiblingCores;

/// Resources of which the kernel measures the time that tasks waited for them (PSI).
const PRESSURE: [&str; 3] = ["cpu", "io", "memory"];

/// Softirq ticks from which on a CPU does nothing but network work, of 100 in a second (`USER_HZ`
/// on every current Linux architecture except Alpha).
const FULL_TICKS: u64 = 90;

/// See the module's description.
#[derive(Clone, Debug, Default)]
pub(crate) struct MachineCounters {
    /// Softirq ticks of each CPU at the last reading.
    softirq: BTreeMap<u32, u64>,
    /// Readings before which a CPU had [`FULL_TICKS`] of them, while another one had not.
    full: u64,
    siblings: SiblingCores,
}

impl MachineCounters {
    /// Adds the counters of this machine to `to`. Readings are taken each second.
    pub(crate) fn add_own(&mut self, to: &mut Counters) {
        self.add(|name| read::text(name).unwrap_or_default(), to);
    }

    /// Adds the counters of the machine with the files that `text` returns.
    pub(crate) fn add(&mut self, text: impl Fn(&str) -> String, to: &mut Counters) {
        let stat = text("/proc/stat");
        counter_text::add_cpu(&stat, to);
        counter_text::add_softnet(&text("/proc/net/softnet_stat"), to);
        counter_text::add_memory_events(&text("/proc/vmstat"), to);
        counter_text::add_neighbours(&text("/proc/net/stat/arp_cache"), to);
        for resource in PRESSURE {
            counter_text::add_pressure(resource, &text(&format!("/proc/pressure/{resource}")), to);
        }
        self.add_softirq(counter_text::softirq_ticks(&stat));
        to.insert("softirq.cpu_full".to_owned(), self.full);
        if let Some(full) = self.siblings.add(&stat, &text) {
            to.insert("smt.siblings_full".to_owned(), full);
        }
    }

    fn add_softirq(&mut self, now: BTreeMap<u32, u64>) {
        let before = std::mem::replace(&mut self.softirq, now);
        let rise = |(cpu, ticks): (&u32, &u64)| Some(ticks.saturating_sub(*before.get(cpu)?));
        let rises: Vec<u64> = self.softirq.iter().filter_map(rise).collect();
        let full = rises.iter().filter(|ticks| **ticks >= FULL_TICKS).count();
        self.full += u64::from(full > 0 && full < rises.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_only_does_network_work_counts_if_others_do_not() {
        let mut counters = MachineCounters::default();
        let mut check = |ticks: [u64; 2], full| {
            counters.add_softirq(BTreeMap::from([(0, ticks[0]), (1, ticks[1])]));
            assert_eq!(counters.full, full, "{ticks:?}");
        };
        check([5, 500], 0);
        check([6, 590], 1);
        check([6, 679], 1);
        check([96, 769], 1);
        check([200, 769], 2);
    }

    #[test]
    fn this_machine_counts_its_cpus() {
        let mut all = Counters::new();
        MachineCounters::default().add_own(&mut all);
        assert!(all.contains_key("cpu.user") && all.contains_key("softnet.dropped"), "{all:?}");
    }
}
