//! Integers of variable length (RFC 9000 §16).

/// The largest value.
const MAX: u64 = (1 << 62) - 1;

/// Appends `value`.
pub(super) fn encode(out: &mut Vec<u8>, value: u64) {
    debug_assert!(value <= MAX, "it has 62 bits");
    match value {
        0..=0x3f => out.push(value as u8),
        0x40..=0x3fff => out.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        0x4000..=0x3fff_ffff => out.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend_from_slice(&(value | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

/// Reads an integer at the start of `bytes`, and removes it. `None`: it is not complete.
pub(super) fn decode(bytes: &mut &[u8]) -> Option<u64> {
    let &first = bytes.first()?;
    let length = 1usize << (first >> 6);
    let (own, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    let value = own[1..].iter().fold(u64::from(first & 0x3f), |value, &byte| value << 8 | u64::from(byte));
    Some(value)
}
