//! The examples of RFC 7541 appendix C, and a round trip of drawn fields.

use super::dynamic_table::DynamicTable;
use super::{Decoder, Encoder, HpackError};
use crate::fields::{FieldDecoder as _, FieldEncoder as _};

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Fields, HpackError> {
    let mut fields = Fields::new();
    decoder.decode(block, |name, value| fields.push((name.to_vec(), value.to_vec())))?;
    Ok(fields)
}

/// Decodes the blocks of one connection, given in hexadecimal digits, one after the other.
fn check(blocks: &[(&str, &[(&str, &str)])]) {
    let mut decoder = Decoder::new();
    for (hex, expected) in blocks {
        let fields = decode(&mut decoder, &bytes(hex)).unwrap();
        let expected: Fields = expected
            .iter()
            .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
            .collect();
        assert_eq!(fields, expected, "{hex}");
    }
}

const FIRST: &[(&str, &str)] =
    &[(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")];
const SECOND: &[(&str, &str)] = &[
    (":method", "GET"),
    (":scheme", "http"),
    (":path", "/"),
    (":authority", "www.example.com"),
    ("cache-control", "no-cache"),
];
const THIRD: &[(&str, &str)] = &[
    (":method", "GET"),
    (":scheme", "https"),
    (":path", "/index.html"),
    (":authority", "www.example.com"),
    ("custom-key", "custom-value"),
];

#[test]
fn single_fields_of_appendix_c2() {
    check(&[(
        "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
        &[("custom-key", "custom-header")],
    )]);
    check(&[("040c 2f73 616d 706c 652f 7061 7468", &[(":path", "/sample/path")])]);
    check(&[("1008 7061 7373 776f 7264 0673 6563 7265 74", &[("password", "secret")])]);
    check(&[("82", &[(":method", "GET")])]);
}

#[test]
fn requests_of_appendix_c3_and_c4() {
    check(&[
        ("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", FIRST),
        ("8286 84be 5808 6e6f 2d63 6163 6865", SECOND),
        ("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", THIRD),
    ]);
    check(&[
        ("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", FIRST),
        ("8286 84be 5886 a8eb 1064 9cbf", SECOND),
        ("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", THIRD),
    ]);
}

/// Appendix C.6 with the table of 256 bytes that it assumes, so that entries are evicted.
#[test]
fn responses_of_appendix_c6() {
    check(&[
        (
            "3fe1 01 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad
             1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
            &[
                (":status", "302"),
                ("cache-control", "private"),
                ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
                ("location", "https://www.example.com"),
            ],
        ),
        (
            "4883 640e ffc1 c0bf",
            &[
                (":status", "307"),
                ("cache-control", "private"),
                ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
                ("location", "https://www.example.com"),
            ],
        ),
        (
            "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335
             dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
            &[
                (":status", "200"),
                ("cache-control", "private"),
                ("date", "Mon, 21 Oct 2013 20:13:22 GMT"),
                ("location", "https://www.example.com"),
                ("content-encoding", "gzip"),
                ("set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"),
            ],
        ),
    ]);
}

#[test]
fn bad_blocks_are_faults() {
    let check = |hex: &str, expected: HpackError| {
        assert_eq!(decode(&mut Decoder::new(), &bytes(hex)), Err(expected), "{hex}");
    };
    check("80", HpackError::BadIndex);
    check("be", HpackError::BadIndex);
    check("ff ff ff ff ff ff 0f", HpackError::IntegerTooLarge);
    check("ff ff ff ff ff 0f", HpackError::IntegerTooLarge);
    check("40 0a 61", HpackError::Truncated);
    check("ff", HpackError::Truncated);
    check("82 20", HpackError::BadSizeUpdate);
    check("3f e2 1f", HpackError::BadSizeUpdate);
    check("00 81 00 00", HpackError::Huffman);
}

#[test]
fn an_entry_larger_than_the_table_empties_it() {
    let mut table = DynamicTable::new(100);
    table.insert(b"a", b"b");
    table.insert(b"c", b"d");
    assert_eq!(table.get(0), Some((&b"c"[..], &b"d"[..])));
    table.insert(b"name", &[b'x'; 80]);
    assert_eq!(table.get(0), None);
}

/// A generator of numbers; the upper bits are good (Knuth's MMIX generator).
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Encodes and decodes blocks of fields that repeat often, while the table changes its size.
#[test]
fn drawn_fields_survive() {
    let names: [&[u8]; 6] = [b":path", b"user-agent", b"x-id", b"cookie", b"content-length", b"accept"];
    for seed in 0..200 {
        let (mut draw, mut encoder, mut decoder) = (Draw(seed), Encoder::new(), Decoder::new());
        for _ in 0..60 {
            if draw.below(10) == 0 {
                encoder.set_size_max(draw.below(600) as usize);
            }
            let mut block = Vec::new();
            encoder.begin(&mut block);
            let mut sent = Fields::new();
            for _ in 0..draw.below(8) {
                let name = names[draw.below(6) as usize].to_vec();
                let length = draw.below(40) as usize;
                let value = vec![b"ab\xff"[draw.below(3) as usize]; length];
                encoder.field(&mut block, &name, &value);
                sent.push((name, value));
            }
            assert_eq!(decode(&mut decoder, &block).unwrap(), sent, "seed {seed}");
        }
    }
}

/// A field is named by one byte from its second block on, unless its value keeps changing.
#[test]
fn repeated_fields_are_indexed() {
    let mut encoder = Encoder::new();
    let mut sizes = Vec::new();
    for number in 0..6 {
        let mut block = Vec::new();
        encoder.begin(&mut block);
        encoder.field(&mut block, b"user-agent", b"wavetank");
        encoder.field(&mut block, b"x-id", format!("{number}").as_bytes());
        let before = encoder.changes();
        sizes.push((block.len(), before));
    }
    let changes: Vec<_> = sizes.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    assert_eq!(changes, [1, 0, 0, 0, 0], "{sizes:?}");
}
