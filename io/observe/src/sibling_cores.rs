//! [`SiblingCores`]: hardware threads that share a physical core, and whether they compete while
//! other cores are idle.

use std::collections::{BTreeMap, BTreeSet};

use crate::parse;

/// Share of its time, in percent, from which on a hardware thread is busy.
const BUSY: u64 = 70;
/// Share up to which it is idle.
const IDLE: u64 = 30;

/// See the module's description.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiblingCores {
    /// The hardware threads of each core that has several. `None` until they are read.
    cores: Option<BTreeSet<Vec<u32>>>,
    /// Busy and total ticks of each hardware thread at the last reading.
    before: BTreeMap<u32, (u64, u64)>,
    /// Readings before which the threads of a core were busy, and another core was idle.
    full: u64,
}

impl SiblingCores {
    /// Adds a reading of `/proc/stat`. `text` returns the file with the list of siblings of a CPU.
    /// Returns how often siblings competed; `None` if no core has several threads.
    pub(crate) fn add(&mut self, stat: &str, text: impl Fn(&str) -> String) -> Option<u64> {
        let now: BTreeMap<u32, (u64, u64)> = parse::numbered_cores(stat).collect();
        let list = |cpu: &u32| -> Vec<u32> {
            let siblings = text(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
            parse::number_ranges(&siblings)
                .into_iter()
                .flat_map(|(first, last)| first..=last)
                .map(u32::from)
                .collect()
        };
        let cores = self.cores.get_or_insert_with(|| {
            now.keys().map(list).filter(|siblings| siblings.len() > 1).collect::<BTreeSet<_>>()
        });
        let before = std::mem::replace(&mut self.before, now);
        let busy = |cpu: &u32| {
            let ((work, all), (work_then, all_then)) = (self.before.get(cpu)?, before.get(cpu)?);
            let all = all.saturating_sub(*all_then);
            (all > 0).then(|| work.saturating_sub(*work_then) * 100 / all)
        };
        let is_core = |wanted: &dyn Fn(u64) -> bool| {
            cores.iter().any(|core| core.iter().all(|cpu| busy(cpu).is_some_and(wanted)))
        };
        self.full += u64::from(is_core(&|share| share >= BUSY) && is_core(&|share| share <= IDLE));
        (!cores.is_empty()).then_some(self.full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_compete_only_while_another_core_is_idle() {
        let mut cores = SiblingCores::default();
        let siblings = |name: &str| {
            let is_first = name.contains("cpu0/") || name.contains("cpu2/");
            if is_first { "0,2\n".to_owned() } else { "1,3\n".to_owned() }
        };
        let (mut used, mut elapsed) = ([0_u64; 4], 0);
        let mut check = |shares: [u64; 4], full| {
            elapsed += 100;
            for (used, share) in used.iter_mut().zip(shares) {
                *used += share;
            }
            let line =
                |(cpu, used): (usize, &u64)| format!("cpu{cpu} {used} 0 0 {} 0 0 0 0\n", elapsed - used);
            let stat: String = used.iter().enumerate().map(line).collect();
            assert_eq!(cores.add(&stat, siblings), Some(full), "{shares:?}");
        };
        check([0, 0, 0, 0], 0);
        check([90, 5, 80, 10], 1);
        // One thread of the core has time, or no core is idle.
        check([90, 5, 60, 10], 1);
        check([90, 5, 80, 40], 1);
        check([30, 70, 10, 100], 2);
    }

    #[test]
    fn a_host_without_siblings_has_no_count() {
        let mut cores = SiblingCores::default();
        let stat = "cpu0 9 0 0 9 0 0 0 0\ncpu1 9 0 0 9 0 0 0 0\n";
        assert_eq!(
            cores.add(stat, |name| if name.contains("cpu0/") { "0\n" } else { "1\n" }.to_owned()),
            None
        );
        assert_eq!(SiblingCores::default().add(stat, |_| String::new()), None);
    }
}
