//! Classes of bytes, and the search on which all validation of heads is based.

/// Whether a byte is allowed in a token (RFC 9110 §5.6.2): names of fields, methods, codings.
pub(crate) const fn is_token(byte: u8) -> bool {
    TOKEN[byte as usize]
}

/// Whether a byte is allowed in a field value or reason phrase. All control characters except the
/// tab are excluded (RFC 9110 §5.5).
pub(crate) const fn is_text(byte: u8) -> bool {
    byte >= b' ' && byte != 0x7f || byte == b'\t'
}

/// Whether `name` is a valid field name: a non-empty token.
pub fn is_field_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(is_token)
}

/// Whether `value` is a valid field value: it has no control characters except the tab.
pub fn is_field_value(value: &str) -> bool {
    value.bytes().all(is_text)
}

/// Returns the index, at or after `from`, of the first byte that is not text, or the length.
///
/// It checks eight bytes at a time. Values are most of a head, and this search is most of the work
/// of reading it.
#[inline]
pub(crate) fn text_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let odd = controls(u64::from_le_bytes(*eight));
        if odd == 0 {
            at += 8;
            continue;
        }
        at += (odd.trailing_zeros() / 8) as usize;
        if bytes[at] != b'\t' {
            return at;
        }
        at += 1;
    }
    while let Some(&byte) = bytes.get(at) {
        if !is_text(byte) {
            return at;
        }
        at += 1;
    }
    at
}

/// Marks (by its top bit) the lowest byte below 0x20 or equal to 0x7f.
///
/// Marks above the lowest one may be wrong, because a subtraction borrows upwards only. They are
/// never used.
#[inline]
const fn controls(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let below_space = word.wrapping_sub(ONES * 0x20) & !word;
    let off_delete = word ^ (ONES * 0x7f);
    let is_delete = off_delete.wrapping_sub(ONES) & !off_delete;
    (below_space | is_delete) & TOPS
}

/// Returns the text without the spaces and tabs at either end.
#[inline]
pub(crate) fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

const TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let marks = b"!#$%&'*+-.^_`|~";
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The fast search must agree with the plain definition at every position and for every byte.
    #[test]
    fn text_end_agrees_with_is_text() {
        for byte in 0..=255u8 {
            for place in 0..24 {
                for filler in [b'a', b'\t', 0x80, 0xff, b' '] {
                    let mut bytes = [filler; 24];
                    bytes[place] = byte;
                    let expected = if is_text(byte) { 24 } else { place };
                    assert_eq!(text_end(&bytes, 0), expected, "byte {byte:#x} at {place} in {filler:#x}");
                    assert_eq!(text_end(&bytes, place), expected, "from {place}, byte {byte:#x}");
                }
            }
        }
    }

    #[test]
    fn tokens_are_those_of_the_rfc() {
        let count = (0..=255u8).filter(|&byte| is_token(byte)).count();
        assert_eq!(count, 26 + 26 + 10 + 15);
        assert!(!b" \t\r\n\0:;,\"()<>@[]{}/\\?=".iter().any(|&byte| is_token(byte)));
    }
}
