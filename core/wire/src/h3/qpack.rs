//! QPACK with its static table only (RFC 9204).

use super::static_table::{STATIC_TABLE, StaticMatch, find};
use crate::fields::{FieldDecoder, FieldEncoder};
use crate::h2::hpack::{HpackError, huffman, integer};

/// Decodes header blocks. A reference to the dynamic table is a fault, because it has no capacity.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    name: Vec<u8>,
    value: Vec<u8>,
}

impl FieldDecoder for Decoder {
    fn decode(&mut self, mut block: &[u8], mut field: impl FnMut(&[u8], &[u8])) -> Result<(), HpackError> {
        // The prefix: the required insert count, and the base.
        if integer::decode(&mut block, 8)? != 0 {
            return Err(HpackError::BadIndex);
        }
        // The base may not be negative (RFC 9204 §4.5.1.2).
        let is_negative = block.first().is_some_and(|first| first & 0x80 != 0);
        integer::decode(&mut block, 7)?;
        if is_negative {
            return Err(HpackError::BadIndex);
        }
        while let Some(&first) = block.first() {
            if first & 0x80 != 0 {
                let (name, value) = indexed(first & 0x40 != 0, integer::decode(&mut block, 6)?)?;
                field(name, value);
                continue;
            }
            if first & 0x40 != 0 {
                let (name, _) = indexed(first & 0x10 != 0, integer::decode(&mut block, 4)?)?;
                self.name.clear();
                self.name.extend_from_slice(name);
            } else if first & 0x20 != 0 {
                read_string(&mut block, 3, &mut self.name)?;
            } else {
                return Err(HpackError::BadIndex);
            }
            read_string(&mut block, 7, &mut self.value)?;
            field(&self.name, &self.value);
        }
        Ok(())
    }
}

fn indexed(is_static: bool, index: usize) -> Result<(&'static [u8], &'static [u8]), HpackError> {
    let entry = STATIC_TABLE.get(index).filter(|_| is_static).ok_or(HpackError::BadIndex)?;
    Ok((entry.0.as_bytes(), entry.1.as_bytes()))
}

/// Reads a string. Its length has a prefix of `bits` bits, after the bit for Huffman's code.
fn read_string(block: &mut &[u8], bits: u32, text: &mut Vec<u8>) -> Result<(), HpackError> {
    let is_huffman = block.first().is_some_and(|first| first & (1 << bits) != 0);
    let length = integer::decode(block, bits)?;
    let (code, rest) = block.split_at_checked(length).ok_or(HpackError::Truncated)?;
    *block = rest;
    text.clear();
    if is_huffman {
        return huffman::decode(text, code);
    }
    text.extend_from_slice(code);
    Ok(())
}

/// Encodes header blocks.
#[derive(Debug, Default)]
pub(super) struct Encoder;

impl FieldEncoder for Encoder {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 0]);
    }

    fn field(&mut self, out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
        match find(name, value) {
            StaticMatch::Whole(index) => return integer::encode(out, 0xc0, 6, index),
            StaticMatch::Name(index) => integer::encode(out, 0x50, 4, index),
            StaticMatch::None => push_string(out, 0x20, 3, name),
        }
        push_string(out, 0, 7, value);
    }
}

fn push_string(out: &mut Vec<u8>, first: u8, bits: u32, text: &[u8]) {
    let length = huffman::encoded_len(text);
    if length < text.len() {
        integer::encode(out, first | 1 << bits, bits, length);
        huffman::encode(out, text);
    } else {
        integer::encode(out, first, bits, text.len());
        out.extend_from_slice(text);
    }
}
