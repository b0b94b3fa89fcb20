//! [`CpuAssignment`]: which CPUs load and target get.

/// The number of CPUs from which load and target get separate CPUs. With fewer, each would have one
/// CPU or none, which does not resemble a real generator.
const APART_MIN: usize = 4;

/// The CPUs of both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuAssignment {
    /// CPUs of the load threads.
    pub load: Vec<u32>,
    /// CPUs of the target on this host; empty if it is elsewhere.
    pub target: Vec<u32>,
}

impl CpuAssignment {
    /// Assigns all CPUs to the load, for a target elsewhere.
    pub fn for_remote_target(cpus: &[u32]) -> Self {
        Self { load: cpus.to_vec(), target: Vec::new() }
    }

    /// Assigns CPUs for a target on the same host. `core_of` identifies the core of a CPU, e.g. by
    /// its first CPU. CPUs of one core stay together, because they share resources that are
    /// measured. Both sides get all CPUs where half of them is not enough.
    pub fn from_cpus(cpus: &[u32], core_of: impl Fn(u32) -> u32) -> Self {
        let mut sorted = cpus.to_vec();
        sorted.sort_by_key(|&cpu| (core_of(cpu), cpu));
        let cores = |part: &[u32]| part.iter().map(|&cpu| core_of(cpu)).collect::<Vec<_>>();
        let middle = sorted.len() / 2;
        // The first place from the middle on where a core ends.
        let cut = (middle..sorted.len()).find(|&at| at > 0 && core_of(sorted[at]) != core_of(sorted[at - 1]));
        match cut {
            Some(cut) if sorted.len() >= APART_MIN => {
                let (load, target) = sorted.split_at(cut);
                debug_assert!(cores(load).iter().all(|core| !cores(target).contains(core)), "a core is cut");
                Self { load: load.to_vec(), target: target.to_vec() }
            }
            _ => Self { load: cpus.to_vec(), target: cpus.to_vec() },
        }
    }

    /// `elsewhere`, `apart` or `shared`.
    pub fn name(&self) -> &'static str {
        if self.target.is_empty() {
            "elsewhere"
        } else if self.target.iter().any(|cpu| self.load.contains(cpu)) {
            "shared"
        } else {
            "apart"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cpus: &[u32], core_of: impl Fn(u32) -> u32, load: &[u32], target: &[u32], name: &str) {
        let layout = CpuAssignment::from_cpus(cpus, core_of);
        assert_eq!((layout.load.as_slice(), layout.target.as_slice(), layout.name()), (load, target, name));
    }

    #[test]
    fn both_sides_get_whole_cores_where_there_are_enough() {
        check(&[0], |cpu| cpu, &[0], &[0], "shared");
        check(&[0, 1], |cpu| cpu, &[0, 1], &[0, 1], "shared");
        check(&[2, 3, 7], |cpu| cpu, &[2, 3, 7], &[2, 3, 7], "shared");
        check(&[0, 1, 2, 3], |cpu| cpu, &[0, 1], &[2, 3], "apart");
        check(&[0, 1, 2, 3, 4], |cpu| cpu, &[0, 1], &[2, 3, 4], "apart");
        // Two threads a core, numbered one after the other and as Linux usually does.
        check(&[0, 1, 2, 3], |cpu| cpu / 2, &[0, 1], &[2, 3], "apart");
        check(&[0, 1, 2, 3, 4, 5, 6, 7], |cpu| cpu % 4, &[0, 4, 1, 5], &[2, 6, 3, 7], "apart");
        check(&[0, 1, 2, 3, 4, 5], |cpu| cpu / 2, &[0, 1, 2, 3], &[4, 5], "apart");
        check(&[0, 1, 2, 3], |_| 0, &[0, 1, 2, 3], &[0, 1, 2, 3], "shared");
        assert_eq!(CpuAssignment::for_remote_target(&[1, 2]).name(), "elsewhere");
    }
}
