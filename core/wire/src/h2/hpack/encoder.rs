//! Encoding header blocks.

use super::dynamic_table::DynamicTable;
use super::static_table::{self, STATIC_TABLE, StaticMatch};
use super::{huffman, integer};
use crate::fields::FieldEncoder;

/// The most bytes of a peer's table that are used.
const TABLE_BYTES_MAX: usize = 4_096;
/// A field is no longer inserted after its value has changed this often.
const CHANGES_MAX: u8 = 2;
/// The most names for which changes are counted.
const NAMES_MAX: usize = 32;

/// Encodes the header blocks of one connection, in order.
///
/// A field is inserted into the table when it is first sent, and named by its index from then on. A
/// name with a value that keeps changing is no longer inserted, so that it does not evict others.
#[derive(Debug)]
pub(crate) struct Encoder {
    table: DynamicTable,
    /// The smallest maximum since the last block, and the current one, if it changed.
    resized: Option<(usize, usize)>,
    /// Names with values that changed, and how often.
    changing: Vec<(Box<[u8]>, u8)>,
}

impl Encoder {
    /// Creates an encoder for a peer with the default table size.
    pub(crate) const fn new() -> Self {
        Self { table: DynamicTable::new(TABLE_BYTES_MAX), resized: None, changing: Vec::new() }
    }

    /// The number of changes of the table so far. A block that inserted nothing may be sent again
    /// as long as this number is the same.
    pub(crate) const fn changes(&self) -> u64 {
        self.table.changes()
    }

    /// Limits the table to `size` bytes, as the peer has requested.
    pub(crate) fn set_size_max(&mut self, size: usize) {
        let size = size.min(TABLE_BYTES_MAX);
        if size != self.table.size_max() || self.resized.is_some() {
            let smallest = self.resized.map_or(size, |(smallest, _)| smallest.min(size));
            self.resized = Some((smallest, size));
            self.table.set_size_max(size);
        }
    }

    /// Whether the value of `name` has not changed too often. `changed`: it changes now.
    fn is_steady(&mut self, name: &[u8], changed: bool) -> bool {
        if let Some((_, changes)) = self.changing.iter_mut().find(|(its, _)| **its == *name) {
            *changes = changes.saturating_add(u8::from(changed));
            return *changes < CHANGES_MAX;
        }
        if changed && self.changing.len() < NAMES_MAX {
            self.changing.push((name.into(), 1));
            return true;
        }
        !changed
    }
}

impl FieldEncoder for Encoder {
    /// Begins a block: announces changes of the table size.
    fn begin(&mut self, out: &mut Vec<u8>) {
        if let Some((smallest, size)) = self.resized.take() {
            if smallest < size {
                integer::encode(out, 0x20, 5, smallest);
            }
            integer::encode(out, 0x20, 5, size);
        }
    }

    fn field(&mut self, out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
        let by_static = static_table::find(name, value);
        if let StaticMatch::Whole(index) = by_static {
            return integer::encode(out, 0x80, 7, index);
        }
        let mut name_index = match by_static {
            StaticMatch::Name(index) | StaticMatch::Whole(index) => index,
            StaticMatch::None => 0,
        };
        let mut changed = false;
        for (at, (its_name, its_value)) in self.table.iter().enumerate() {
            if its_name != name {
                continue;
            }
            let index = STATIC_TABLE.len() + 1 + at;
            if its_value == value {
                return integer::encode(out, 0x80, 7, index);
            }
            changed = true;
            if name_index == 0 {
                name_index = index;
            }
        }
        let inserts = DynamicTable::size_of(name, value) <= self.table.size_max() / 4
            && name != b"content-length"
            && self.is_steady(name, changed);
        let (first, bits) = if inserts { (0x40, 6) } else { (0, 4) };
        integer::encode(out, first, bits, name_index);
        if name_index == 0 {
            push_string(out, name);
        }
        push_string(out, value);
        if inserts {
            self.table.insert(name, value);
        }
    }
}

fn push_string(out: &mut Vec<u8>, text: &[u8]) {
    let length = huffman::encoded_len(text);
    if length < text.len() {
        integer::encode(out, 0x80, 7, length);
        huffman::encode(out, text);
    } else {
        integer::encode(out, 0, 7, text.len());
        out.extend_from_slice(text);
    }
}
