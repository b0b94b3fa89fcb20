//! A Chinese page tells the record's sentences in Chinese: all that the sources make are in the phrase book.
//!
//! Sentences are texts between quotes in the sources, so the sources are searched. What a run fills in is a number here.

use std::path::{Path, PathBuf};

use wavetank_record::RunRecord;
use wavetank_report::{HtmlSource, Language, html};

/// Where sentences are made that come into the record.
const MAKERS: [&str; 11] = [
    "core/diagnose/src",
    "core/compare/src/compared.rs",
    "core/measure/src/host_gauges.rs",
    "core/measure/src/outcome.rs",
    "core/measure/src/skews.rs",
    "core/measure/src/tracker.rs",
    "core/report/src/knee/drift.rs",
    "core/report/src/knee/queued.rs",
    "core/report/src/load_text.rs",
    "core/report/src/next.rs",
    "bin/wavetank/src/commands/search/verdict.rs",
];
/// Words that are looked for in a fault and never told, in this file shorter than what is told.
const NEEDLES: (&str, usize) = ("core/diagnose/src/tls.rs", 40);
/// Texts that are no sentence by themselves, or stand in the sources in pieces: whole ones are below.
const IN_PIECES: [&str; 11] = [
    "at random (poisson)",
    "TLS handshake",
    "a rendezvous",
    "{what} {} from {from} to {to} over {phase}",
    "memory per connection rose from {from} to {to} over {phase} (kernel{both} and wavetank)",
    "{} {verb} unanswered {fate}",
    "{} ({}) {} never sent, as max_open {} was reached: the target saw less than the rate asked for",
    "{} users{}",
    "{} connections held{each}",
    "{ends} (at most {})",
    "queue growth < 0.5%",
];
/// Sentences as they stand in records.
const WHOLE: [&str; 24] = [
    "lost: wavetank was stopped before the run was over; 3 lines of the archive cannot be read, 2 of them written by a later version of wavetank",
    "lost: the run is still under way: this is what was sealed so far; an interval is missing from the archive",
    "requests in flight rose from 20 to 300 over keep",
    "response p99 fell from 4.20 ms to 1.90 ms over keep",
    "memory per connection rose from 2.1 kB to 4.0 kB over keep (kernel of both ends and wavetank)",
    "memory per connection rose from 2.1 kB to 4.0 kB over keep (kernel and wavetank)",
    "one request was unanswered at the end and count in the response time as long as they waited",
    "1,200 requests were unanswered when the last interval was sealed and are in no response time",
    "12 requests (0.10 %) were never sent, as max_open 50 was reached: the target saw less than the rate asked for",
    "one request (0.10 %) was never sent, as max_open 50 was reached: the target saw less than the rate asked for",
    "8/s at random (poisson), each of 3 requests",
    "0 to 1.00 M connections held, 1 session each",
    "0/s to 100/s (at most 5 k/s) evenly, 3 m 00 s, open loop over at most 50 connections",
    "warm: 20/s evenly, 1 s, open loop; full: 10 to 50 users, 2 s, at most 100 requests, closed loop",
    "`done_rate > 500` broke: 431/s at 7 s, while the generator itself was full",
    "stop condition `failed > 50% for 10s` fired: 62.0 %",
    "no load was sent: login: status 500",
    "after the load: stock: `json $.left = 0` broke: found 3",
    "the load was not the one asked for: 3.10 % of it was dropped or failed on this side over the run",
    "lost: the load did not end when it should have and was cut; this host was held up for so long that an agreed instant had passed",
    "1,000,000 connections held for 20 m 00 s, 0 lost",
    "310 of 9,800 (3.16 %) · failed: no_files 12 · dropped: behind 298",
    "same machine: server and wavetank shared 2 CPUs, so this is a lower bound",
    "rehearsal: `p99.9 < 1s` is undecided: uncertain: fewer than 10 samples lie above it",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The sources of `maker`, a file or all files of a folder, without their tests.
fn sources(maker: &str) -> Vec<(String, String)> {
    let at = root().join(maker);
    let name =
        |path: &Path| path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
    let files = if at.is_dir() {
        let entries = std::fs::read_dir(&at).expect("a folder of the repository");
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()).collect()
    } else {
        vec![at]
    };
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a source is text");
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
        (name(&path), text)
    };
    files.into_iter().map(read).collect()
}

/// Texts between quotes in a source, as the program has them.
fn texts(source: &str) -> Vec<String> {
    let (mut texts, mut rest) = (Vec::new(), source);
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (quote, after) = rest[at..].split_at(1);
        rest = after;
        match quote {
            "/" if rest.starts_with('/') => rest = rest.split_once('\n').map_or("", |(_, below)| below),
            // A character, and not a lifetime.
            "'" => {
                let mut letters = rest.char_indices();
                let escaped = letters.next().is_some_and(|(_, letter)| letter == '\\');
                let end = letters.nth(usize::from(escaped)).filter(|(_, letter)| *letter == '\'');
                rest = end.map_or(rest, |(end, _)| &rest[end + 1..]);
            }
            "\"" => {
                let (mut text, mut letters) = (String::new(), rest.char_indices());
                while let Some((at, letter)) = letters.next() {
                    match letter {
                        '"' => {
                            rest = &rest[at + 1..];
                            break;
                        }
                        '\\' => match letters.next().expect("something is escaped").1 {
                            '\n' => text.push('\n'),
                            escaped => text.push(escaped),
                        },
                        letter => text.push(letter),
                    }
                }
                // A line that goes on below begins there behind its blanks.
                let lines: Vec<_> = text.split('\n').collect();
                let joined =
                    lines.iter().enumerate().map(|(at, line)| if at == 0 { line } else { line.trim_start() });
                texts.push(joined.collect());
            }
            _ => {}
        }
    }
    texts
}

/// With a number in each hole.
fn filled(text: &str) -> String {
    let mut parts = text.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |told, part| told + "7" + part.split_once('}').map_or("", |(_, after)| after))
}

/// A Chinese page that notes this.
fn page(sentence: &str) -> String {
    let record = RunRecord { notes: vec![sentence.to_owned()], ..RunRecord::default() };
    let source = HtmlSource {
        record: &record,
        plan: None,
        environment: None,
        course: None,
        hosts: &[],
        others: &[],
        target: &[],
    };
    html(source, Language::Chinese)
}

fn is_chinese(sentence: &str) -> bool {
    !page(sentence).contains("lang=\"en\"")
}

#[test]
fn what_the_sources_make_is_told_in_chinese() {
    assert!(!is_chinese("a sentence that nobody has made"), "nothing is marked as English");
    let mut seen = Vec::new();
    let mut without = Vec::new();
    for (path, source) in MAKERS.iter().flat_map(|maker| sources(maker)) {
        for text in texts(&source) {
            let needle = path == NEEDLES.0 && text.len() < NEEDLES.1;
            // Pieces of sentences begin with what joins them.
            let piece = text.starts_with([' ', ',', ';']) || IN_PIECES.contains(&text.as_str());
            if needle || !text.contains(' ') {
                continue;
            }
            seen.push(text.clone());
            if !piece && !is_chinese(&filled(&text)) {
                without.push(format!("{path}: {text}"));
            }
        }
    }
    assert!(without.is_empty(), "no Chinese in core/report/src/phrases/words for:\n{}", without.join("\n"));
    assert!(seen.len() > 150, "the sources are not found: {seen:?}");
    let gone: Vec<_> = IN_PIECES.iter().filter(|text| !seen.iter().any(|own| own == *text)).collect();
    assert!(gone.is_empty(), "no source has {gone:?}");
}

#[test]
fn whole_sentences_are_told_in_chinese() {
    let without: Vec<_> = WHOLE.iter().filter(|sentence| !is_chinese(sentence)).collect();
    assert!(without.is_empty(), "{without:#?}");
}

/// Names and answers come from outside: whatever stands in a hole is text.
#[test]
fn what_stands_in_a_hole_is_only_text() {
    let page = page("<b>x</b>: status 500 · `<script>` broke: <img src=x>");
    assert!(page.contains("：状态码 500") && !page.contains("<b>x") && !page.contains("<img"), "{page}");
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
}
