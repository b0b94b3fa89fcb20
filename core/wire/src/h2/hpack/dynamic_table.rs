//! The dynamic table (RFC 7541 §2.3.2 and §4).

use std::collections::VecDeque;

/// What an entry counts in addition to its bytes (RFC 7541 §4.1).
const ENTRY_OVERHEAD: usize = 32;

/// Fields that were sent before on a connection, the last one first. It allocates nothing until its
/// first entry.
#[derive(Debug)]
pub(crate) struct DynamicTable {
    entries: VecDeque<Entry>,
    size: usize,
    size_max: usize,
    /// Counts changes of the table.
    changes: u64,
}

/// One field: its name, followed by its value.
#[derive(Debug)]
struct Entry {
    text: Box<[u8]>,
    name_len: usize,
}

impl DynamicTable {
    /// Creates an empty table of at most `size_max` bytes.
    pub(crate) const fn new(size_max: usize) -> Self {
        Self { entries: VecDeque::new(), size: 0, size_max, changes: 0 }
    }

    /// Changes the maximum size, which may evict entries.
    pub(crate) fn set_size_max(&mut self, size_max: usize) {
        self.size_max = size_max;
        self.changes += 1;
        self.evict(0);
    }

    /// The number of insertions and other changes so far.
    pub(crate) const fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns what a field counts in the table.
    pub(crate) const fn size_of(name: &[u8], value: &[u8]) -> usize {
        name.len() + value.len() + ENTRY_OVERHEAD
    }

    /// The maximum size.
    pub(crate) const fn size_max(&self) -> usize {
        self.size_max
    }

    /// Inserts a field. One that is larger than the table empties it.
    pub(crate) fn insert(&mut self, name: &[u8], value: &[u8]) {
        let size = Self::size_of(name, value);
        self.changes += 1;
        self.evict(size);
        if size <= self.size_max {
            let mut text = Vec::with_capacity(name.len() + value.len());
            text.extend_from_slice(name);
            text.extend_from_slice(value);
            self.entries.push_front(Entry { text: text.into(), name_len: name.len() });
            self.size += size;
        }
    }

    /// Returns the name and value of the entry `at`, counted from the last insertion.
    pub(crate) fn get(&self, at: usize) -> Option<(&[u8], &[u8])> {
        self.entries.get(at).map(|entry| entry.text.split_at(entry.name_len))
    }

    /// All entries, the last one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|entry| entry.text.split_at(entry.name_len))
    }

    fn evict(&mut self, room: usize) {
        while self.size + room > self.size_max {
            let Some(last) = self.entries.pop_back() else { break };
            self.size -= last.text.len() + ENTRY_OVERHEAD;
        }
    }
}
