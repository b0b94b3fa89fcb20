//! [`Memory`]: the kernel's own memory, and the growth that connections cause.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

/// Bytes of a page of memory.
const PAGE: u64 = 4_096;
/// The kernel's memory other than slabs, by its names in `/proc/meminfo`.
const EXTRA_SLABS: [&str; 4] = ["KernelStack", "PageTables", "VmallocUsed", "Percpu"];

/// The kernel's memory at one instant, bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    /// Memory of each slab cache.
    slabs: BTreeMap<String, u64>,
    /// Stacks, page tables, virtual and per-CPU areas.
    alongside: u64,
    /// Memory that is neither free nor a copy of data on a disk.
    taken: u64,
}

/// Growth between two instants, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Added {
    /// Growth of the slab caches that grew. Caches that shrank hold file names and pages, which the
    /// kernel frees on demand. They would hide growth.
    pub(super) slabs: u64,
    /// Growth of the kernel's memory other than slabs.
    pub(super) alongside: u64,
    /// Growth of all memory in use, including user memory and what the shrunken caches released. It
    /// serves as a cross-check.
    pub(super) taken: u64,
}

impl Memory {
    /// Reads the current values, which needs root.
    pub(super) fn now() -> Result<Self> {
        let slabinfo = std::fs::read_to_string("/proc/slabinfo").context("/proc/slabinfo needs root")?;
        let meminfo = meminfo()?;
        let of = |name: &str| bytes_in(&meminfo, name).unwrap_or(0);
        let unused = of("MemFree") + of("Buffers") + of("Cached");
        Ok(Self {
            slabs: slabs_in(&slabinfo),
            alongside: EXTRA_SLABS.iter().map(|name| of(name)).sum(),
            taken: of("MemTotal").saturating_sub(unused),
        })
    }

    /// Returns the memory that is available to programs, in bytes.
    pub(super) fn available() -> Result<u64> {
        bytes_in(&meminfo()?, "MemAvailable").context("/proc/meminfo has no MemAvailable")
    }

    /// Returns the growth since `before`.
    pub(super) fn added_since(&self, before: &Self) -> Added {
        let mut slabs = 0;
        let mut given_back = 0;
        for (name, &now) in &self.slabs {
            let then = before.slabs.get(name).copied().unwrap_or(0);
            slabs += now.saturating_sub(then);
            given_back += then.saturating_sub(now);
        }
        Added {
            slabs,
            alongside: self.alongside.saturating_sub(before.alongside),
            taken: (self.taken + given_back).saturating_sub(before.taken),
        }
    }
}

fn meminfo() -> Result<String> {
    std::fs::read_to_string("/proc/meminfo").context("/proc/meminfo")
}

/// Reads the line `MemFree:  123 kB`.
fn bytes_in(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1_024)
}

/// Returns slabs × pages of each cache, from the lines `name <active_objs> <num_objs> <objsize>
/// <objperslab> <pagesperslab> : … : slabdata <active_slabs> <num_slabs> …`.
fn slabs_in(slabinfo: &str) -> BTreeMap<String, u64> {
    let of_line = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let pages: u64 = fields.get(5)?.parse().ok()?;
        let place = fields.iter().position(|&field| field == "slabdata")?;
        let slabs: u64 = fields.get(place + 2)?.parse().ok()?;
        Some((fields[0].to_owned(), pages * slabs * PAGE))
    };
    slabinfo.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_are_read() {
        let text = "slabinfo - version: 2.1\n# name  <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : …\n\
                    TCP  20 26 2432 13 8 : tunables 0 0 0 : slabdata 2 3 0\n";
        assert_eq!(slabs_in(text), BTreeMap::from([("TCP".to_owned(), 3 * 8 * 4_096)]));
        assert_eq!(bytes_in("MemTotal: 9 kB\nMemFree:   12 kB\n", "MemFree"), Some(12_288));
        assert_eq!(bytes_in("MemFreed: 12 kB\n", "MemFree"), None);
    }

    #[test]
    fn caches_that_make_room_hide_nothing() {
        let of = |inodes, sockets, alongside, taken| Memory {
            slabs: BTreeMap::from([("ext4_inode_cache".to_owned(), inodes), ("TCP".to_owned(), sockets)]),
            alongside,
            taken,
        };
        let added = of(400, 1_700, 30, 5_000).added_since(&of(1_000, 200, 10, 4_000));
        assert_eq!(added, Added { slabs: 1_500, alongside: 20, taken: 1_600 });
        assert_eq!(of(1, 1, 1, 1).added_since(&of(1, 1, 1, 1)), Added::default());
    }
}
