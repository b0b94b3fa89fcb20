//! Whatever becomes of a file, reading it ends: with an experiment or with an error, and never in a panic.
//!
//! 10,000 mutated files are read, or as many as `WAVETANK_MUTATIONS` says. A failing one is told by its seed:
//! `WAVETANK_MUTATION_SEED` reads that one alone.

mod support;

use support::{example_names, example_text, names_in, reading};
use wavetank_experiment::{Factor, RowFacts, render, verify_data};

/// A second's work.
const MUTATIONS_DEFAULT: u64 = 10_000;

/// What mutations put in: the words and signs that mean something.
const WORDS: [&str; 46] = [
    "{",
    "}",
    "[",
    "]",
    ": ",
    "- ",
    "\n",
    "  ",
    "\t",
    "\"",
    "'",
    "#",
    "&a ",
    "*a",
    "!t ",
    "|\n",
    ">\n",
    "---\n",
    "${",
    "${x}",
    "${env:HOME_URL}",
    "${secret:PASSWORD}",
    "$${",
    "null",
    "~",
    "0",
    "-1",
    "1e400",
    "99999999999999999999",
    "1k/s",
    "5m",
    " to ",
    " or ",
    "rate",
    "hold: ",
    "steps: ",
    "repeat: ",
    "use: ",
    "vars: {a: [1, 2]}",
    "\u{feff}",
    "\u{2028}",
    "ü",
    "\\",
    "/",
    "<<: ",
    "? ",
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

/// One to six changes of a file, some of them by parts of another.
fn mutated(seed: u64, files: &[String]) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut bytes = files[dice.below(files.len())].clone().into_bytes();
    for _ in 0..=dice.below(6) {
        let (at, length) = (dice.below(bytes.len() + 1), dice.below(24));
        let end = (at + length).min(bytes.len());
        match dice.below(8) {
            0 => drop(bytes.drain(at..end)),
            1 => insert(&mut bytes, at, WORDS[dice.below(WORDS.len())].as_bytes()),
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
                bytes.splice(at..end, WORDS[dice.below(WORDS.len())].bytes());
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

/// Everything that is done with a file.
fn use_all(bytes: &[u8]) {
    let reading = reading("mutated.yaml", bytes, &[]);
    let shown = render(&reading.diagnostics, "mutated.yaml", &reading.text);
    assert_eq!(reading.experiment.is_none(), reading.diagnostics.has_errors(), "{shown}");
    assert_eq!(reading.diagnostics.has_errors(), reading.diagnostics.first_error("mutated.yaml").is_some());
    let Some(mut experiment) = reading.experiment else { return };
    let facts = RowFacts { columns: vec!["user".to_owned()], rows: 10 };
    drop(verify_data(&experiment, &|_| Some(facts.clone())));
    experiment.scale(Factor::parse("--scale", "1/1000").expect("a factor"));
    experiment.speed(Factor::parse("--speed", "20x").expect("a factor"));
    drop(experiment.retarget("http://127.0.0.1:1"));
}

#[test]
fn nothing_panics() {
    let mistakes = support::root().join("core/experiment/tests/mistakes");
    let mut files: Vec<String> = example_names().iter().map(|name| example_text(name)).collect();
    for name in names_in(&mistakes, "yaml") {
        files.extend(std::fs::read_to_string(mistakes.join(name)));
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("WAVETANK_MUTATION_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("WAVETANK_MUTATIONS").unwrap_or(MUTATIONS_DEFAULT),
    };
    for seed in seeds {
        let bytes = mutated(seed, &files);
        let done = std::panic::catch_unwind(|| use_all(&bytes));
        assert!(done.is_ok(), "WAVETANK_MUTATION_SEED={seed}:\n{}", String::from_utf8_lossy(&bytes));
    }
}
