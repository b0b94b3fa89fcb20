//! The kernel's own memory for small objects.

use crate::{parse, read};

/// Returns the size of the kernel's slabs, of the whole host; `None` if `/proc/meminfo` does not
/// contain it.
pub fn slab_bytes() -> Option<u64> {
    parse::memory_bytes(&read::text("/proc/meminfo")?, "Slab:")
}
