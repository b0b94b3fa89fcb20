//! A Chinese page has a phrase for every sentence that this program can store in a record. The
//! sentences are those of [`SENTENCES`], to which the crates add them as they are compiled.

use std::collections::BTreeSet;

use wavetank_record::RunRecord;
use wavetank_report::{HtmlSource, Language, html};
use wavetank_units::{SENTENCES, Sentence, SentenceSource};

/// Crates that make sentences. The linker would leave one out that this program does not use.
const MAKERS: [&str; 15] = [
    "bin/wavetank",
    "core/compare",
    "core/diagnose",
    "core/grpc",
    "core/journey",
    "core/measure",
    "core/plan",
    "core/record",
    "core/report",
    "core/wire",
    "io/driver",
    "io/engine",
    "io/lab",
    "io/runner",
    "io/store",
];
/// Patterns of parts that occur only in other sentences. The whole sentences are in [`WHOLE`].
const IN_PIECES: [&str; 4] = [
    "{} and {more} more",
    "{some} and {more} more",
    "{ends} (at most {})",
    "cannot send a request to the keeper of lab `{}`",
];
/// Sentences as records have them: with other sentences and values of runs inside.
const WHOLE: [&str; 55] = [
    "the archive of run a1 is damaged: intervals are missing, 3 lines cannot be read, its intervals lack 1,200 of the 9,800 requests that it counted",
    "version of wavetank: 0.1.0 for run a1, 0.2.0 for run b1, c2, d3",
    "the loads of runs a1 and b1, c2, d3 differ: a difference may come from that",
    "the steps of A and B differ: a difference may come from that",
    "CPUs: 4 for A, 8 for B",
    "version of wavetank: 0.1.0 for A, 0.2.0 for B",
    "kernel: 6.1.0 for run a1, 6.2.0 for run b1, c2, d3",
    "lost: wavetank was stopped before the run was over; 3 lines of the archive cannot be read, 2 of them written by a later version of wavetank",
    "lost: an interval is missing from the archive",
    "no request ended for at least 2.5 s, from 5 s on, though 1,250 were open at 7.5 s: the target sent no response, or the network \
     delivered none",
    "requests in flight rose from 20 to 300 over keep",
    "response p99 fell from 4.20 ms to 1.90 ms over keep",
    "memory per connection rose from 2.1 kB to 4.0 kB over keep (kernel of both ends and wavetank)",
    "memory per connection rose from 2.1 kB to 4.0 kB over keep (kernel and wavetank)",
    "one request was unanswered at the end and count in the response time as long as they waited",
    "1,200 requests were unanswered when the last interval was sealed and are in no response time",
    "12 requests (0.10 %) were never sent, as max_open 50 was reached: the target saw less than the rate asked for",
    "one request (0.10 %) was never sent, as max_open 50 was reached: the target saw less than the rate asked for",
    "8/s at random (poisson), each of 3 requests",
    "0 to 1,000,000 connections held, 1 session each",
    "0 req/s to 100 req/s (at most 5,000 req/s) evenly, 3 m 00 s, open loop over at most 50 connections",
    "sessions at 1,000/s evenly, each of 5 requests",
    "0 to 1.00 M connections held, 1 session each",
    "0/s to 100/s (at most 5 k/s) evenly, 3 m 00 s, open loop over at most 50 connections",
    "sessions at 20/s evenly, each of 5 requests, 3 s, open loop",
    "warm: 20/s evenly, 1 s, open loop; full: 10 to 50 users, 2 s, at most 100 requests, closed loop",
    "`done_rate > 500` broke: 431/s at 7 s, while the generator itself was full",
    "stop condition `failed > 50% for 10s` fired: 62 %",
    "no load was sent: login: status 500",
    "after the load: stock: `json $.left = 0` broke: found 3",
    "the load was not as requested: 3.1 % of it was dropped or failed on this side over the run",
    "lost: the load did not end when it should have and was cut; this host was delayed until an agreed instant had passed",
    "1,000,000 connections held for 20 m 00 s, 0 lost",
    "310 of 9,800 (3.16 %) · failed: no_files 12 · dropped: behind 298",
    "same machine: server and wavetank shared 2 CPUs, so the server alone can do this or more",
    "rehearsal: `p99.9 < 1s` is undecided: uncertain: fewer than 10 samples lie above it",
    "lost: the lab was taken down while the run went on",
    "lost: host app1 of the lab ended while the run went on",
    "lb1/haproxy, app1/nginx and 3 more: restarted during the run, so its own counts started again and are not reported",
    "app1: fault kill nginx",
    "app1: fault kill nginx reverted",
    "lb1: pool app1 drain",
    "app1: fault kill nginx could not be done: service nginx of host app1 has no running process",
    "app1: fault drop 20% could not be reverted: host app1 has no fault 3",
    "app1: reload could not be done: host app1: `reload` ended with exit status: 3: no such thing",
    "lb1: pool app1 drain could not be done: the pool of `haproxy` on lb1: it is not running",
    "app1: fault cut could not be done: the keeper of lab `shop` does not answer",
    "app1: fault cut could not be done: cannot send a request to the keeper of lab `shop`: 7",
    "shop.example:80 moved from 10.0.0.1:80 to 10.0.0.2:80, [fd00::2]:80 (at 3.20 s)",
    "shop.example:80 moved from [fd00::1]:80 and 3 more to 10.0.0.2:80 and 12 more",
    "shop.example:80 moved from [fd00::1]:80 to 10.0.0.2:80 and 12 more (at 3.20 s)",
    "`shop.example` has no IPv4 address; connections continue to the previous addresses of `shop.example` (at 2.00 s)",
    "3 of 12 look-ups of `shop.example` failed while the load ran (at 12.0 s)",
    "not used: shop.example (8.8.8.8) is not a loopback or private address, and load must only go where it is welcome; if the target is \
     yours: wavetank run shop.yaml --allow-target shop.example",
    "end: run: ended the run before its load",
];

/// A Chinese page with this note.
fn page(sentence: &str) -> String {
    let record = RunRecord { notes: vec![Sentence::quoted(sentence)], ..RunRecord::default() };
    let source = HtmlSource::of_record(&record);
    html(source, Language::Chinese)
}

fn is_chinese(sentence: &str) -> bool {
    let page = page(sentence);
    // Text before a colon is taken for a name if it has no phrase. Names have no blanks here.
    let before = sentence.split_once(": ").map_or("", |(before, _)| before).replace('`', "");
    let is_name = before.contains(' ')
        && page
            .replace("<code>", "")
            .replace("<code class=\"option\">", "")
            .replace("</code>", "")
            .contains(&format!("{before}："));
    !page.contains("lang=\"en\"") && !is_name
}

/// The pattern with a number for each placeholder.
fn filled(pattern: &SentenceSource) -> String {
    if !pattern.is_format {
        return pattern.english.to_owned();
    }
    let (mut text, mut is_placeholder) = (String::new(), false);
    let mut letters = pattern.english.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '{' | '}' if letters.next_if_eq(&letter).is_some() => text.push(letter),
            '{' => is_placeholder = true,
            '}' => {
                is_placeholder = false;
                text.push('7');
            }
            _ if is_placeholder => {}
            letter => text.push(letter),
        }
    }
    text
}

/// Whether a pattern has a text of its own, and does not only join values and other sentences.
fn has_text(pattern: &SentenceSource) -> bool {
    filled(pattern).split(' ').filter(|word| word.contains(char::is_alphabetic)).count() > 1
}

#[test]
fn every_sentence_of_the_program_has_a_chinese_phrase() {
    assert!(!is_chinese("a sentence that nothing makes"), "nothing is marked as English");
    let patterns = SENTENCES.iter().filter(|pattern| has_text(pattern));
    let without =
        patterns.filter(|pattern| !IN_PIECES.contains(&pattern.english) && !is_chinese(&filled(pattern)));
    let without: Vec<_> = without
        .map(|SentenceSource { english, place: (file, line), .. }| format!("{file}:{line}: {english}"))
        .collect();
    assert!(without.is_empty(), "no Chinese in core/report/src/translate/words for:\n{}", without.join("\n"));
    let all: BTreeSet<&str> = SENTENCES.iter().map(|pattern| pattern.english).collect();
    let gone: Vec<_> = IN_PIECES.iter().filter(|text| !all.contains(*text)).collect();
    assert!(gone.is_empty(), "nothing makes {gone:?}");
}

#[test]
fn every_crate_that_makes_sentences_is_linked() {
    let is_of = |maker: &str| SENTENCES.iter().filter(|one| one.place.0.starts_with(maker)).count();
    let empty: Vec<_> = MAKERS.iter().filter(|maker| is_of(maker) == 0).collect();
    assert!(empty.is_empty(), "no sentences of {empty:?}");
    let of_unknown: BTreeSet<_> = SENTENCES.iter().map(|one| one.place.0).collect();
    let of_unknown: Vec<_> =
        of_unknown.iter().filter(|file| !MAKERS.iter().any(|maker| file.starts_with(maker))).collect();
    assert!(of_unknown.is_empty(), "not in MAKERS: {of_unknown:?}");
}

#[test]
fn whole_sentences_are_translated() {
    let without: Vec<_> = WHOLE.iter().filter(|sentence| !is_chinese(sentence)).collect();
    assert!(without.is_empty(), "{without:#?}");
}

/// Names and responses come from outside: the value of a placeholder is always plain text.
#[test]
fn a_placeholder_contains_only_text() {
    let page = page("<b>x</b>: status 500 · `<script>` broke: <img src=x>");
    assert!(page.contains("：状态码 500") && !page.contains("<b>x") && !page.contains("<img"), "{page}");
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
}
