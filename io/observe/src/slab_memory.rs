//! The kernel's own memory for small things.

use crate::{parse, read};

/// Bytes of the kernel's slabs now, of the whole host; nothing where `/proc/meminfo` does not say.
pub fn slab_bytes() -> Option<u64> {
    parse::memory_bytes(&read::text("/proc/meminfo")?, "Slab:")
}
