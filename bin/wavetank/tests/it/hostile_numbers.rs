//! Archives with arbitrary numbers: each is reported or compared, or rejected with one line, and
//! nothing panics.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wavetank_testkit::{Outcome, RunHarness, Script, Target, copy_folder, is_long};

/// Number of archives to make and read, and in the long form.
const ROUNDS: u64 = 10;
const ROUNDS_LONG: u64 = 200;
/// Most numbers to replace in one archive.
const CHANGES_MAX: u64 = 4;
/// The replacements.
const HOSTILE: [&str; 12] = [
    "18446744073709551615",
    "9223372036854775807",
    "-9223372036854775808",
    "9007199254740992",
    "1152921504606846976",
    "-1152921504606846976",
    "8589934592",
    "4294967295",
    "-1",
    "0",
    "1e308",
    "-1e308",
];

/// Pseudo-random numbers: the same seed gives the same archives.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        // SplitMix64, with its published constants.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most
    }
}

/// Returns start and end of the numbers in `text` that are values. Digits within names and
/// addresses do not count.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e');
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let begins = bytes[at].is_ascii_digit() || bytes[at] == b'-';
        let after = at == 0 || matches!(bytes[at - 1], b' ' | b':' | b',' | b'[' | b'{');
        if begins && after {
            let end = (at..bytes.len()).find(|&end| !is_part(bytes[end])).unwrap_or(bytes.len());
            if bytes[at..end].iter().any(u8::is_ascii_digit) {
                found.push((at, end));
            }
            at = end.max(at + 1);
        } else {
            at += 1;
        }
    }
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("it is there").flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

/// Makes a run with data in most of its files: phases, a hold with its hosts and counts, failures,
/// a checkpoint.
fn archive(trial: &RunHarness) -> PathBuf {
    let serve = wavetank_testkit::Serve::start(&trial.program(), &["--threads", "1"]);
    let text = format!(
        "wavetank: 1\nname: numbers\ntarget: {}\nsteps: [{{get: /}}, {{get: /status/503}}]\nphases:\n  - {{name: load, rate: 20/s to 60/s, \
         for: 1s}}\n  - {{name: open, hold: 0 to 20, at: 40/s}}\n  - {{name: keep, hold: 20, for: 2s}}\nthresholds: [p99 < 5s, held >= 1 in keep]\n",
        serve.url("")
    );
    let file = trial.place().write("numbers.yaml", text);
    trial.program().args(["run", &file, "--quiet"]).run();
    let folder = trial.place().runs("runs").into_iter().next().expect("the run has its archive");
    // Adds a checkpoint, as runs of a minute have. The sum of one line is that line.
    let lines = folder.join("intervals/local.jsonl");
    let kept = fs::read_to_string(&lines).expect("intervals");
    let (first, rest) = kept.split_once('\n').expect("a line");
    let checkpoint = first.replacen("\"v\":2,", "\"v\":2,\"checkpoint\":true,", 1);
    assert!(checkpoint.contains("checkpoint"), "{first}");
    fs::write(&lines, format!("{first}\n{checkpoint}\n{rest}")).expect("the test's own folder is writable");
    folder
}

/// Changes numbers of one archive and returns a description of the changes.
fn spoil(folder: &Path, dice: &mut Dice) -> String {
    let mut reported = String::new();
    let all = files(folder);
    for _ in 0..=dice.below(CHANGES_MAX) {
        let file = &all[dice.below(all.len() as u64) as usize];
        let text = fs::read_to_string(file).expect("an archive is text");
        let places = numbers(&text);
        if places.is_empty() {
            continue;
        }
        let (from, to) = places[dice.below(places.len() as u64) as usize];
        let hostile = HOSTILE[dice.below(HOSTILE.len() as u64) as usize];
        let before = &text[text[..from].rfind(['{', ',', '\n']).map_or(0, |at| at + 1)..to];
        let _ = writeln!(reported, "{}: `{before}` became {hostile}", file.display());
        fs::write(file, format!("{}{hostile}{}", &text[..from], &text[to..])).expect("it is writable");
    }
    // Without `run.json` the run counts as killed, so everything is counted again, whatever its
    // plan contains.
    if dice.below(2) == 0 {
        let _ = fs::remove_file(folder.join("run.json"));
        reported += "run.json was removed\n";
    }
    reported
}

#[track_caller]
fn check(outcome: &Outcome, what: &str) {
    let fine = outcome.exit.is_some_and(|code| (0..=5).contains(&code));
    assert!(fine && !outcome.stderr.contains("panicked"), "{what}{outcome}");
    if outcome.exit == Some(2) {
        // JSON and JUnit output contain the error.
        if outcome.stdout.starts_with('{') {
            let error = outcome.json();
            let reported = |key: &str| error[key].as_str().is_some_and(|text| !text.is_empty());
            assert!(error["exit"] == 2 && reported("message") && reported("hint"), "{what}{outcome}");
            return;
        }
        if outcome.stdout.starts_with("<?xml") {
            assert!(outcome.stdout.contains("<error message=\""), "{what}{outcome}");
            return;
        }
        let lines = |start: &str| outcome.stderr.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!((lines("error: "), lines("hint: ")), (1, 1), "{what}{outcome}");
    }
}

#[test]
fn archives_of_any_numbers_are_reported_or_refused() {
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let whole = archive(&trial);
    let target = Target::start(Script::constant(Duration::ZERO));
    let made =
        trial.load(&target.url("/"), ["-r", "50/s", "-d", "2s", "--quiet", "--runs-dir", "other"]).run();
    // On a busy machine the run may be invalid. Its archive is as good.
    assert!(matches!(made.exit, Some(0 | 3)), "{made}");
    let other = trial.place().runs("other").remove(0);
    for seed in 0..if is_long() { ROUNDS_LONG } else { ROUNDS } {
        let folder = PathBuf::from(trial.place().file(&format!("spoilt-{seed}")));
        copy_folder(&whole, &folder);
        let reported = format!("seed {seed}\n{}", spoil(&folder, &mut Dice(seed)));
        let shown = folder.to_string_lossy().into_owned();
        let run = |words: &[&str]| trial.program().args(words).run();
        for format in ["text", "html", "csv", "markdown", "hlog"] {
            check(&run(&["report", &shown, "--format", format]), &reported);
        }
        if seed % 4 == 0 {
            for format in ["json", "junit", "hgrm"] {
                check(&run(&["report", &shown, "--format", format]), &reported);
            }
            check(&run(&["report", &shown, "--format", "html", "--lang", "zh"]), &reported);
            check(&run(&["report", &shown, "--format", "csv", "--by-host"]), &reported);
            check(&run(&["compare", &shown, &other.to_string_lossy()]), &reported);
            check(&run(&["runs", "show", &shown]), &reported);
        }
        fs::remove_dir_all(&folder).expect("the test's own folder");
    }
}
