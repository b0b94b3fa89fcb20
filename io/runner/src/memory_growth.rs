//! [`MemoryGrowth`]: what connections take of this process's memory.

use wavetank_observe::written_bytes;
use wavetank_record::ConnectionMemory;

/// With fewer connections, what else grows in the meantime would be taken for theirs.
const CONNECTIONS_MIN: u64 = 1_000;

/// Memory that this process has written before connections are opened.
pub(crate) struct MemoryGrowth {
    before: u64,
}

impl MemoryGrowth {
    /// As it is now.
    pub(crate) fn begin() -> Self {
        Self { before: written_bytes() }
    }

    /// Returns the memory growth per connection, for `connections` opened ones. `None` if they are
    /// too few, or if memory did not grow.
    pub(crate) fn end(&self, connections: u64) -> Option<ConnectionMemory> {
        shared_out(written_bytes().saturating_sub(self.before), connections)
    }
}

fn shared_out(grown_bytes: u64, connections: u64) -> Option<ConnectionMemory> {
    (connections >= CONNECTIONS_MIN && grown_bytes > 0).then(|| ConnectionMemory {
        connections,
        grown_bytes,
        bytes_per_connection: grown_bytes / connections,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_connections_show_nothing() {
        assert_eq!(shared_out(1 << 20, 999), None);
        assert_eq!(shared_out(0, 5_000), None);
        let memory = shared_out(20_000_000, 1_000).expect("enough of them");
        assert_eq!((memory.connections, memory.bytes_per_connection), (1_000, 20_000));
    }
}
