//! [`GroupUse`]: what a host of a lab has used, as its control groups count it.

use std::fs;
use std::path::PathBuf;

use super::group;
use crate::Mark;

/// Where the counts of one host stand. Looked for once: reading is then two small files.
#[derive(Clone, Debug)]
pub struct GroupUse {
    cpu: Option<PathBuf>,
    memory: Option<PathBuf>,
}

impl GroupUse {
    /// The counts of that host of the lab with that mark; none of them may be there.
    pub fn of(mark: &Mark, host: &str) -> Self {
        let folders = group::folders(mark, host);
        let find = |names: [&str; 2]| {
            let mut files = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
            files.find(|file| file.is_file())
        };
        Self {
            cpu: find(["cpuacct.usage", "cpu.stat"]),
            memory: find(["memory.usage_in_bytes", "memory.current"]),
        }
    }

    /// CPU time that its processes have used so far, user and system, in nanoseconds.
    pub fn cpu_ns(&self) -> Option<u64> {
        cpu_ns(&fs::read_to_string(self.cpu.as_ref()?).ok()?)
    }

    /// Memory that they use now, their files in the page cache included, in bytes.
    pub fn memory_bytes(&self) -> Option<u64> {
        fs::read_to_string(self.memory.as_ref()?).ok()?.trim().parse().ok()
    }
}

/// Reads a bare number of nanoseconds (`cpuacct.usage`), or the line `usage_usec` of version 2's `cpu.stat`.
fn cpu_ns(text: &str) -> Option<u64> {
    if let Ok(ns) = text.trim().parse() {
        return Some(ns);
    }
    let us = text.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
    us.trim().parse::<u64>().ok()?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<u64>) {
        assert_eq!(cpu_ns(text), expected, "{text:?}");
    }

    #[test]
    fn cpu_time_is_read_from_either_version() {
        check("123456\n", Some(123_456));
        check("usage_usec 789\nuser_usec 700\nsystem_usec 89\n", Some(789_000));
        check("nr_periods 0\nnr_throttled 0\n", None);
        check("", None);
    }
}
