//! The Huffman code of HPACK (RFC 7541 §5.2 and appendix B).
//!
//! The code is canonical, so it follows from the lengths of its 257 codes. Decoding takes four bits
//! at a time: no code is shorter than five bits, so a step completes at most one symbol.

use super::HpackError;

/// The end-of-string symbol, which may appear only as padding.
const EOS: usize = 256;

/// The length of each symbol's code in bits (RFC 7541 appendix B).
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

/// The code of each symbol, in its lowest bits.
const CODES: [u32; 257] = codes();

/// The inner nodes of the code's tree; a full binary tree with 257 leaves has 256 of them.
const NODES: usize = 256;

/// What four more bits lead to, by node and bits.
static STEPS: [[Step; 16]; NODES] = steps();

/// The result of reading four bits.
#[derive(Clone, Copy)]
struct Step {
    /// The node reached.
    next: u8,
    /// The symbol that was completed on the way, if `flags` has [`EMITS`].
    symbol: u8,
    flags: u8,
}

/// A symbol was completed.
const EMITS: u8 = 1;
/// The bits since the last symbol are ones, at most seven: a string may end here.
const MAY_END: u8 = 2;
/// The bits contain the end-of-string symbol.
const FAILS: u8 = 4;

const fn codes() -> [u32; 257] {
    let mut codes = [0; 257];
    let (mut code, mut length) = (0u32, 5u8);
    while length <= 30 {
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] == length {
                codes[symbol] = code;
                code += 1;
            }
            symbol += 1;
        }
        code <<= 1;
        length += 1;
    }
    codes
}

/// Returns the children of every inner node. Values from [`NODES`] on are symbols.
const fn tree() -> [[u16; 2]; NODES] {
    let mut nodes = [[0u16; 2]; NODES];
    let mut used = 1;
    let mut symbol = 0;
    while symbol < LENGTHS.len() {
        let (mut node, mut left) = (0usize, LENGTHS[symbol]);
        while left > 1 {
            left -= 1;
            let bit = (CODES[symbol] >> left & 1) as usize;
            if nodes[node][bit] == 0 {
                nodes[node][bit] = used;
                used += 1;
            }
            node = nodes[node][bit] as usize;
        }
        nodes[node][(CODES[symbol] & 1) as usize] = (NODES + symbol) as u16;
        symbol += 1;
    }
    nodes
}

const fn steps() -> [[Step; 16]; NODES] {
    let nodes = tree();
    let mut may_end = [false; NODES];
    let (mut node, mut ones) = (0usize, 0);
    while ones < 8 {
        may_end[node] = true;
        node = nodes[node][1] as usize;
        ones += 1;
    }
    let mut steps = [[Step { next: 0, symbol: 0, flags: 0 }; 16]; NODES];
    let mut from = 0;
    while from < NODES {
        let mut bits = 0;
        while bits < 16 {
            steps[from][bits] = step(&nodes, &may_end, from, bits);
            bits += 1;
        }
        from += 1;
    }
    steps
}

const fn step(nodes: &[[u16; 2]; NODES], may_end: &[bool; NODES], from: usize, bits: usize) -> Step {
    let mut step = Step { next: 0, symbol: 0, flags: 0 };
    let (mut node, mut left) = (from, 4);
    while left > 0 {
        left -= 1;
        let next = nodes[node][bits >> left & 1] as usize;
        if next < NODES {
            node = next;
        } else if next - NODES == EOS {
            step.flags |= FAILS;
            node = 0;
        } else {
            step.flags |= EMITS;
            step.symbol = (next - NODES) as u8;
            node = 0;
        }
    }
    if may_end[node] {
        step.flags |= MAY_END;
    }
    step.next = node as u8;
    step
}

/// Returns the length of `text` in bytes when it is encoded.
pub(crate) fn encoded_len(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|&byte| usize::from(LENGTHS[usize::from(byte)])).sum();
    bits.div_ceil(8)
}

/// Appends the code of `text`, padded with ones.
pub(crate) fn encode(out: &mut Vec<u8>, text: &[u8]) {
    let (mut pending, mut bits) = (0u64, 0u32);
    for &byte in text {
        let symbol = usize::from(byte);
        pending = pending << LENGTHS[symbol] | u64::from(CODES[symbol]);
        bits += u32::from(LENGTHS[symbol]);
        while bits >= 8 {
            bits -= 8;
            out.push((pending >> bits) as u8);
        }
    }
    if bits > 0 {
        let padding = 8 - bits;
        out.push((pending << padding) as u8 | ((1 << padding) - 1) as u8);
    }
}

/// Appends the decoded text of `code`.
///
/// # Errors
/// If the code contains the end-of-string symbol, or if its padding is longer than seven bits or
/// not made of ones.
pub(crate) fn decode(out: &mut Vec<u8>, code: &[u8]) -> Result<(), HpackError> {
    let (mut node, mut may_end) = (0u8, true);
    for &byte in code {
        for bits in [byte >> 4, byte & 15] {
            let step = STEPS[usize::from(node)][usize::from(bits)];
            if step.flags & FAILS != 0 {
                return Err(HpackError::Huffman);
            }
            if step.flags & EMITS != 0 {
                out.push(step.symbol);
            }
            (node, may_end) = (step.next, step.flags & MAY_END != 0);
        }
    }
    if may_end { Ok(()) } else { Err(HpackError::Huffman) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_survives() {
        let all: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        let mut code = Vec::new();
        encode(&mut code, &all);
        assert_eq!(code.len(), encoded_len(&all));
        let mut text = Vec::new();
        decode(&mut text, &code).unwrap();
        assert_eq!(text, all);
        for byte in 0..=255 {
            let (mut code, mut text) = (Vec::new(), Vec::new());
            encode(&mut code, &[byte]);
            decode(&mut text, &code).unwrap();
            assert_eq!(text, [byte]);
        }
    }

    #[test]
    fn bad_padding_and_end_of_string_are_faults() {
        let check = |code: &[u8], valid: bool| {
            let read = decode(&mut Vec::new(), code);
            assert_eq!(read.is_ok(), valid, "{code:x?}");
        };
        // `0` is five zeros, followed by padding.
        check(&[0b0000_0111], true);
        check(&[0b0000_0110], false);
        check(&[0b0000_0000], false);
        check(&[0b0000_0111, 0xff], false);
        check(&[0xff], false);
        // The end-of-string symbol: thirty ones.
        check(&[0xff, 0xff, 0xff, 0xff], false);
    }
}
