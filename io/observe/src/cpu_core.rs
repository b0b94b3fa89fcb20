//! Which CPUs are threads of one core.

use crate::{parse, read};

/// Returns the core of `cpu`, identified by its first CPU; `cpu` itself if the kernel does not say.
pub fn core_of(cpu: u32) -> u32 {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    read::text(path).and_then(|text| parse::first_cpu(&text)).unwrap_or(cpu)
}
