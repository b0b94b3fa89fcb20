//! The fuzz targets on the checked-in corpus, on the case tables, and on seeded mutations of both.

use std::path::Path;

use wavetank_wire::fuzzing;

use crate::h1::table::table;

/// Files of `tests/corpus/NAME` and the bytes of a case table, each of the latter under default and
/// under tight limits, for a GET and for a HEAD.
fn seeds(name: &str, cases: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let mut paths: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 16, "the corpus in {} has lost files", folder.display());
    let mut seeds: Vec<_> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    for case in table(cases) {
        seeds.extend([0, 1, 2, 3].map(|choice| [&[choice], &case.bytes[..]].concat()));
    }
    seeds
}

/// The generator `SplitMix64`: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }

    /// Makes one to four changes: bytes replaced, inserted or removed, pieces repeated or taken
    /// from another seed.
    fn mutate(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            let to = (at + 1 + self.below(12)).min(bytes.len());
            let at = at.min(to);
            match self.below(6) {
                0 => {
                    let byte = self.distinct_byte();
                    bytes.splice(at..to.min(at + 1), [byte]);
                }
                1 => {
                    let byte = self.distinct_byte();
                    bytes.insert(at, byte);
                }
                2 => drop(bytes.drain(at..to)),
                3 => {
                    let piece = bytes[at..to].to_vec();
                    bytes.splice(at..at, piece);
                }
                4 => bytes.truncate(at),
                _ => {
                    let other = &seeds[self.below(seeds.len())];
                    let from = self.below(other.len());
                    bytes.splice(at..to, other[from..].iter().copied().take(40));
                }
            }
        }
        bytes
    }

    fn distinct_byte(&mut self) -> u8 {
        const REPORTING: &[u8] = b"\r\n\t\0 :;,=\"\\09afgHTP/1.\x7f\x80\xff+-";
        REPORTING[self.below(REPORTING.len())]
    }
}

fn check(name: &str, cases: &str, target: fn(&[u8])) {
    let seeds = seeds(name, cases);
    for seed in &seeds {
        target(seed);
    }
    for seed in 0..20_000 {
        let input = Random(seed).mutate(&seeds);
        let outcome = std::panic::catch_unwind(|| target(&input));
        assert!(outcome.is_ok(), "{name}: seed {seed} gave {}", input.escape_ascii());
    }
}

#[test]
fn responses() {
    check("response", include_str!("cases/responses.txt"), fuzzing::response);
}

#[test]
fn requests() {
    check("request", include_str!("cases/requests.txt"), fuzzing::request);
}

#[test]
fn nothing_at_all() {
    fuzzing::response(b"");
    fuzzing::request(b"");
    fuzzing::response(b"\0");
    fuzzing::request(b"\0");
}
