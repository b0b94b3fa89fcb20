//! Groups 9 and 10: sizes, numbers of fragments, and numbers of messages, of which there are fewer
//! here than the 1,000 of the suite.

use super::{BINARY, Case, TEXT, binary, case, check_all, fragments, text};

const TEXT_PIECE: &[u8] = b"BAsd7&jh23";
const BINARY_PIECE: &[u8] = b"\x00\xfe\x23\xfa\xf0";

fn repeated(piece: &[u8], length: usize) -> Vec<u8> {
    piece.iter().copied().cycle().take(length).collect()
}

/// Two cases, one with text and one with bytes.
fn both(numbers: [&str; 2], at: usize, length: usize) -> [Case; 2] {
    let (stars, bytes) = (repeated(TEXT_PIECE, length), repeated(BINARY_PIECE, length));
    let [one, other] = numbers.map(|group| format!("{group}.{}", at + 1));
    [case(one, [text(&stars)]).text(&stars), case(other, [binary(&bytes)]).binary(&bytes)]
}

/// The largest has 16 MiB, which is the limit.
#[test]
fn sizes() {
    let mut rows = Vec::new();
    for (at, kib) in [64, 256, 1_024, 4_096, 8_192, 16_384].into_iter().enumerate() {
        rows.extend(both(["9.1", "9.2"], at, kib << 10));
    }
    // The suite sends these in pieces of 64 to 2,048 bytes, as `check` does with each.
    for at in 0..6 {
        rows.extend(both(["9.5", "9.6"], at, 128 << 10));
    }
    check_all(rows, 24);
}

/// Up to 65,536 fragments, of 64 bytes.
#[test]
fn fragments_of_many_sizes() {
    let (stars, bytes) = (vec![b'*'; 4 << 20], vec![0xfe; 4 << 20]);
    let mut rows = Vec::new();
    for (at, size) in
        [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20].into_iter().enumerate()
    {
        rows.push(case(format!("9.3.{}", at + 1), fragments(TEXT, &stars, size)).text(&stars));
        rows.push(case(format!("9.4.{}", at + 1), fragments(BINARY, &bytes, size)).binary(&bytes));
    }
    // The echo has one frame: this side sends no fragments.
    let long = vec![b'*'; 65_536];
    rows.push(case("10.1.1", fragments(TEXT, &long, 1_300)).text(&long));
    check_all(rows, 19);
}

#[test]
fn many_messages() {
    let mut rows = Vec::new();
    for (at, length) in [0, 16, 64, 256, 1_024, 4_096].into_iter().enumerate() {
        let (stars, bytes) = (text("*".repeat(length)), binary(vec![0xfe; length]));
        for (group, message) in [("9.7", stars), ("9.8", bytes)] {
            let mut row = case(format!("{group}.{}", at + 1), vec![message; 100]);
            row.messages.clone_from(&row.frames);
            rows.push(row);
        }
    }
    check_all(rows, 12);
}
