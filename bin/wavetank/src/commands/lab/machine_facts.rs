//! [`machine_facts`]: the resources of this machine that a lab can use.

use rustix::process::{Resource, getrlimit};
use rustix::system::sysinfo;
use wavetank_topology::MachineFacts;

/// Returns the CPUs, the memory, and the number of files that a process may open.
pub(super) fn machine_facts() -> MachineFacts {
    let memory = sysinfo();
    MachineFacts {
        cpus: std::fs::read_to_string("/sys/devices/system/cpu/present").ok().and_then(|text| cpus_in(&text)),
        open_files: getrlimit(Resource::Nofile).maximum,
        memory_bytes: Some(memory.totalram as u64 * u64::from(memory.mem_unit)),
    }
}

/// Returns one more than the last number in `0-7` or `0`.
fn cpus_in(text: &str) -> Option<u32> {
    let last = text.trim().rsplit(['-', ',']).next()?;
    last.parse::<u32>().ok()?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_counted_to_the_last() {
        let check = |text: &str, expected| assert_eq!(cpus_in(text), expected, "{text}");
        check("0-7\n", Some(8));
        check("0\n", Some(1));
        check("0,2-3", Some(4));
        check("", None);
    }

    #[test]
    fn this_machine_is_known() {
        let MachineFacts { cpus, memory_bytes, .. } = machine_facts();
        assert!(cpus.is_some_and(|cpus| cpus > 0) && memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
    }
}
