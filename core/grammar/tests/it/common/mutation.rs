//! Files changed at random: whatever becomes of one, reading it ends, and never in a panic.

/// Fragments with a meaning in every YAML file.
const SIGNS: [&str; 26] = [
    "{", "}", "[", "]", ": ", "- ", "\n", "  ", "\t", "\"", "'", "#", "&a ", "*a", "!t ", "|\n", ">\n",
    "---\n", "null", "~", "<<: ", "? ", "\u{feff}", "\u{2028}", "ü", "\\",
];

/// A generator of numbers from a seed (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Below `bound`; 0 of 0.
    fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }
}

/// Passes `many` mutated files to `read`, or as many as `WAVETANK_MUTATIONS` sets. `words` contains
/// the terms that this reader knows, in addition to the syntax of YAML. A failure prints its seed;
/// `WAVETANK_MUTATION_SEED` reads that file alone.
pub(crate) fn read_mutated(files: &[String], words: &[&str], many: u64, read: fn(&[u8])) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let words: Vec<&str> = SIGNS.iter().chain(words).copied().collect();
    let seeds = match number("WAVETANK_MUTATION_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("WAVETANK_MUTATIONS").unwrap_or(many),
    };
    for seed in seeds {
        let bytes = mutated(seed, files, &words);
        let done = std::panic::catch_unwind(|| read(&bytes));
        assert!(done.is_ok(), "WAVETANK_MUTATION_SEED={seed}:\n{}", String::from_utf8_lossy(&bytes));
    }
}

/// One to six changes of a file, some of them by parts of another.
fn mutated(seed: u64, files: &[String], words: &[&str]) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut bytes = files[dice.below(files.len())].clone().into_bytes();
    for _ in 0..=dice.below(6) {
        let (at, length) = (dice.below(bytes.len() + 1), dice.below(24));
        let end = (at + length).min(bytes.len());
        match dice.below(8) {
            0 => drop(bytes.drain(at..end)),
            1 => insert(&mut bytes, at, words[dice.below(words.len())].as_bytes()),
            2 => {
                let piece = bytes[at..end].to_vec();
                insert(&mut bytes, dice.below(at + 1), &piece);
            }
            3 => bytes.truncate(at),
            4 if at < bytes.len() => bytes[at] = dice.next() as u8,
            5 => {
                let other = files[dice.below(files.len())].as_bytes();
                let from = dice.below(other.len() + 1);
                let piece = &other[from..(from + dice.below(200)).min(other.len())];
                insert(&mut bytes, at, piece);
            }
            6 => move_line(&mut bytes, &mut dice),
            _ => {
                bytes.splice(at..end, words[dice.below(words.len())].bytes());
            }
        }
    }
    bytes
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    bytes.splice(at..at, piece.iter().copied());
}

fn move_line(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let line = lines.remove(dice.below(lines.len()));
    lines.insert(dice.below(lines.len() + 1), line);
    *bytes = lines.join(&b'\n');
}
