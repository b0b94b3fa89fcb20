//! Decoding header blocks.

use super::dynamic_table::DynamicTable;
use super::static_table::STATIC_TABLE;
use super::{HpackError, huffman, integer};
use crate::fields::FieldDecoder;

/// The size of the table that we allow, which is the default (RFC 9113 §6.5.2).
const TABLE_BYTES_MAX: usize = 4_096;

/// Decodes the header blocks of one connection, in order.
#[derive(Debug)]
pub(crate) struct Decoder {
    table: DynamicTable,
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    pub(crate) const fn new() -> Self {
        Self { table: DynamicTable::new(TABLE_BYTES_MAX), name: Vec::new(), value: Vec::new() }
    }

    /// The number of changes of the table so far. The same block means the same as long as this
    /// number is the same.
    pub(crate) const fn changes(&self) -> u64 {
        self.table.changes()
    }

    fn indexed(table: &DynamicTable, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
        let place = index.checked_sub(1).ok_or(HpackError::BadIndex)?;
        match STATIC_TABLE.get(place) {
            Some((name, value)) => Ok((name.as_bytes(), value.as_bytes())),
            None => table.get(place - STATIC_TABLE.len()).ok_or(HpackError::BadIndex),
        }
    }
}

impl FieldDecoder for Decoder {
    fn decode(&mut self, mut block: &[u8], mut field: impl FnMut(&[u8], &[u8])) -> Result<(), HpackError> {
        let mut at_start = true;
        while let Some(&first) = block.first() {
            if first & 0xe0 == 0x20 {
                let size = integer::decode(&mut block, 5)?;
                if !at_start || size > TABLE_BYTES_MAX {
                    return Err(HpackError::BadSizeUpdate);
                }
                self.table.set_size_max(size);
                continue;
            }
            at_start = false;
            if first & 0x80 != 0 {
                let (name, value) = Self::indexed(&self.table, integer::decode(&mut block, 7)?)?;
                field(name, value);
                continue;
            }
            // With indexing, without it, or never to be indexed.
            let inserts = first & 0x40 != 0;
            let index = integer::decode(&mut block, if inserts { 6 } else { 4 })?;
            if index == 0 {
                read_string(&mut block, &mut self.name)?;
            } else {
                let (name, _) = Self::indexed(&self.table, index)?;
                self.name.clear();
                self.name.extend_from_slice(name);
            }
            read_string(&mut block, &mut self.value)?;
            field(&self.name, &self.value);
            if inserts {
                self.table.insert(&self.name, &self.value);
            }
        }
        Ok(())
    }
}

fn read_string(block: &mut &[u8], text: &mut Vec<u8>) -> Result<(), HpackError> {
    let is_huffman = block.first().is_some_and(|first| first & 0x80 != 0);
    let length = integer::decode(block, 7)?;
    if length > block.len() {
        return Err(HpackError::Truncated);
    }
    let (code, rest) = block.split_at(length);
    *block = rest;
    text.clear();
    if is_huffman {
        return huffman::decode(text, code);
    }
    text.extend_from_slice(code);
    Ok(())
}
