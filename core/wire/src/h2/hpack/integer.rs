//! Integers with a prefix (RFC 7541 §5.1).

use super::HpackError;

/// No index, size or length here is larger.
const VALUE_MAX: u64 = 1 << 30;

/// Appends `value` with a prefix of `bits` bits; `first` has the bits before the prefix.
pub(crate) fn encode(out: &mut Vec<u8>, first: u8, bits: u32, value: usize) {
    let full = (1usize << bits) - 1;
    if value < full {
        out.push(first | value as u8);
        return;
    }
    out.push(first | full as u8);
    let mut rest = value - full;
    while rest >= 128 {
        out.push(rest as u8 | 128);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Reads an integer with a prefix of `bits` bits at the start of `block`, and removes it.
pub(crate) fn decode(block: &mut &[u8], bits: u32) -> Result<usize, HpackError> {
    let (&first, mut rest) = block.split_first().ok_or(HpackError::Truncated)?;
    let full = (1u64 << bits) - 1;
    let mut value = u64::from(first) & full;
    if value == full {
        let mut shift = 0;
        loop {
            let (&byte, behind) = rest.split_first().ok_or(HpackError::Truncated)?;
            rest = behind;
            // Five bytes hold more than any allowed value.
            if shift > 28 {
                return Err(HpackError::IntegerTooLarge);
            }
            value += u64::from(byte & 127) << shift;
            shift += 7;
            if byte & 128 == 0 {
                break;
            }
        }
    }
    *block = rest;
    if value > VALUE_MAX { Err(HpackError::IntegerTooLarge) } else { Ok(value as usize) }
}
