//! A Chinese page has a phrase for every sentence that the sources make. Sentences are string
//! literals, so this test searches the sources; a number replaces each value of a run.

use crate::support::sources::{below, of_the_program};
use wavetank_record::{MetricDoc, RunRecord};
use wavetank_report::{HtmlSource, Language, html};

/// Sources of sentences that are stored in the record: files, folders, and functions of files.
const MAKERS: [&str; 48] = [
    "core/diagnose/src",
    "core/compare/src/metrics.rs",
    "core/compare/src/comparability.rs",
    "core/measure/src/host_gauges.rs",
    "core/measure/src/outcome.rs",
    "core/measure/src/skews.rs",
    "core/measure/src/tracker.rs",
    "core/plan/src/guard.rs",
    "core/plan/src/address_filter.rs: fn usable_addresses(",
    "core/report/src/fleet.rs: pub fn agent_lack(",
    "core/report/src/search_report/drift.rs",
    "core/report/src/search_report/queueing_note.rs",
    "core/report/src/load_text.rs",
    "core/report/src/next_steps.rs",
    "bin/wavetank/src/commands/report.rs: let mut lost = ",
    "io/runner/src/settling/settled_events.rs",
    "bin/wavetank/src/commands/run_file.rs: fn rehearsal(",
    "io/runner/src/search/verdict.rs",
    "bin/wavetank/src/comparison/load.rs: fn read(",
    "bin/wavetank/src/comparison/sides.rs: fn warnings(",
    "bin/wavetank/src/comparison/sides.rs: fn steps_note(",
    "bin/wavetank/src/comparison/sides.rs: fn uncompared_note(",
    "bin/wavetank/src/comparison/sides.rs: fn doubts(",
    "bin/wavetank/src/comparison/sides.rs: fn advise(",
    "io/runner/src/hooks.rs",
    "io/runner/src/controller",
    "io/runner/src/event_runner",
    "core/report/src/run_facts.rs",
    "io/runner/src/lab_run.rs: fn loss(",
    "io/runner/src/agent_run.rs: fn note(",
    "io/runner/src/lab_notes.rs",
    "io/runner/src/lookup.rs: fn lookup(",
    "io/runner/src/probe.rs",
    "io/runner/src/dns_refresh/mod.rs",
    "io/runner/src/server_counts.rs: fn uncountable_since(",
    "io/runner/src/server_counts.rs: fn full_text(",
    "core/journey/src/extract/error.rs: fn as_str(",
    "core/journey/src/follow_up_error.rs: fn message(",
    "core/wire/src/h2/error.rs: fn text(",
    "core/grpc/src/message_error.rs: fn fmt(",
    "io/engine/src/failure/mod.rs",
    "io/engine/src/failure/session_failures.rs",
    "io/lab/src/fault",
    "io/lab/src/client.rs: fn answered(",
    "io/lab/src/supervisor/host_link.rs: fn silent(",
    "io/lab/src/supervisor/host_link.rs: fn dead(",
    "io/lab/src/service/pools.rs",
    "io/store/src/store_problem.rs: fn fmt(",
];
/// Calls with texts that are not stored.
const SHOWN: [&str; 8] =
    [".info(", ".warn(", ".expect(", "reason =", "hint = ", "ln!(", "json!(", "host_error("];
/// Calls that store sentences in the record: those of makers and of [`ONLY_PASS_ON`].
const STORES: [&str; 10] = [
    "EventLine::new(",
    "EventLine {",
    "self.event(",
    "DnsUpdate {",
    "notes.push(",
    "notes.extend(",
    "lost.push(",
    "lost.extend(",
    "Finding {",
    "HookFailure {",
];
/// Files that store sentences made elsewhere, or sentences that are in no record.
const ONLY_PASS_ON: [&str; 18] = [
    "core/report/src/compose.rs",
    "core/capacity/src/size/plan_demand.rs",
    "core/capacity/src/size/demand.rs",
    "core/capacity/src/forecast/notes.rs",
    "core/experiment/src/overrides/mod.rs",
    "core/record/src/verdict.rs",
    "core/record/src/event_line.rs",
    "io/engine/src/single_user/prefacing.rs",
    "io/engine/src/single_user/connection.rs",
    "io/engine/src/single_user/opening.rs",
    "io/engine/src/single_user/streams.rs",
    "io/engine/src/single_user/messages.rs",
    "bin/wavetank/src/trace/recorder.rs",
    "io/runner/src/execute.rs",
    "io/runner/src/servers_counted.rs",
    "bin/wavetank/src/commands/plan.rs",
    "bin/wavetank/src/commands/try_file.rs",
    "io/runner/src/calibration/session.rs",
];
/// In this file, texts below this length are searched for in a fault, or are directives: never
/// sentences.
const NEEDLES: [(&str, usize); 4] = [
    ("core/diagnose/src/tls.rs", 40),
    ("core/diagnose/src/error_class_text.rs", 25),
    ("core/diagnose/src/fix.rs", 60),
    ("core/diagnose/src/bottleneck/fixes.rs", 60),
];
/// Texts that are only parts of sentences in the sources. The whole sentences are listed below.
const IN_PIECES: [&str; 19] = [
    "sessions at ",
    "version of wavetank",
    "{what}: {a} for run {of_a}, {b} for run {of_b}",
    "at random (poisson)",
    "a rendezvous",
    "{what} {} from {from} to {to} over {phase}",
    "memory per connection rose from {from} to {to} over {phase} (kernel{both} and wavetank)",
    "{} {verb} unanswered {fate}",
    "{} ({}) {} never sent, as max_open {} was reached: the target saw less than the rate asked for",
    "{} users{}",
    "{} connections held{each}",
    "{ends} (at most {})",
    "queue growth < 0.5%",
    "a session{of} reached `end: run`",
    "end: run",
    "cannot send a request to the keeper of lab `{}`",
    "{} (at {})",
    "{} and {more} more",
    "{check}: found {instead}",
];
/// Texts of makers that are never in a record: hints, rules of filters, texts to search for.
const NOT_STORED: [&str; 35] = [
    "{of_a} is {kind_a}, {of_b} is {kind_b}: their numbers mean different things",
    "run {name}",
    "compare runs of the same load; the target may differ",
    "one that holds connections",
    "an open loop",
    "a closed loop",
    "source and target must be of one family; {v4} or {v6} chooses",
    "sources {source} is {family}, and `{host}` has no such address",
    "check the spelling, or look with `getent ahosts {host}`; to go elsewhere: --connect-to ADDRESS:{port}",
    "IPv4 ",
    "IPv6 ",
    "another name",
    "`{name}` has no {wanted}address",
    "--scale {factor}",
    "--speed {factor}",
    "HTTPS port",
    "SSL-enabled server port",
    "HTTPS server",
    "port requires TLS",
    "expected `h2`",
    "run `wavetank lab down`, then `wavetank lab up`",
    "run `wavetank lab down` to remove the lab",
    "look at `ulimit -u`",
    "no thread for the plan's events: {error}",
    "try it: wavetank lab exec {host} -- {command}",
    "Max open files",
    "end some of them first",
    "is the lab of another version of wavetank?",
    "it may have ended already",
    "it may be stopped; run `wavetank lab down --lab {}` to end it",
    "check the services with `wavetank lab status`",
    "check the host with `wavetank lab status`",
    "delete table netdev {}n",
    "table netdev {table} {{n{}{}}}n",
    "numgen random mod {MILLION} < {share} drop",
];
/// Sentences as records have them.
const WHOLE: [&str; 57] = [
    MetricDoc::FEW_ABOVE,
    MetricDoc::NOT_ASKED,
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

/// Returns the sources of `maker` with their paths: one file, all files below a folder, or one
/// function.
fn sources(maker: &str) -> Vec<(String, String)> {
    let (place, function) = maker.split_once(": ").unwrap_or((maker, ""));
    let read = |(path, text): (String, String)| {
        let text = if function.is_empty() { text } else { body(&text, function, maker).to_owned() };
        (path, text)
    };
    below(place).into_iter().map(read).collect()
}

/// Returns the part of `source` from `function` up to its closing brace.
fn body<'s>(source: &'s str, function: &str, maker: &str) -> &'s str {
    let begin = source.find(function).unwrap_or_else(|| panic!("{maker} is gone"));
    let (before, text) = source.split_at(begin);
    // That brace is at the start of its line, after the indentation of the function.
    let line = &source[before.rfind('\n').map_or(0, |at| at + 1)..];
    let own = format!("\n{}}}\n", &line[..line.len() - line.trim_start().len()]);
    let end = [own.as_str(), "\n}\n"].iter().filter_map(|end| text.find(end)).min();
    let text = &text[..end.unwrap_or(text.len())];
    assert!(texts(text).iter().any(|text| text.contains(' ')), "{maker} has no sentences any more");
    text
}

/// Returns the string literals of a source, as the program has them, without those that are shown
/// or sent and not stored.
fn texts(source: &str) -> Vec<String> {
    let (mut texts, mut rest) = (Vec::new(), source);
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (quote, after) = rest[at..].split_at(1);
        rest = after;
        match quote {
            "/" if rest.starts_with('/') => rest = rest.split_once('\n').map_or("", |(_, below)| below),
            // A character literal, and not a lifetime.
            "'" => {
                let mut letters = rest.char_indices();
                let escaped = letters.next().is_some_and(|(_, letter)| letter == '\\');
                let end = letters.nth(usize::from(escaped)).filter(|(_, letter)| *letter == '\'');
                rest = end.map_or(rest, |(end, _)| &rest[end + 1..]);
            }
            "\"" => {
                let before = &source[..source.len() - rest.len() - 1];
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
                // A continued line starts after the blanks of the next line.
                let lines: Vec<_> = text.split('\n').collect();
                let joined =
                    lines.iter().enumerate().map(|(at, line)| if at == 0 { line } else { line.trim_start() });
                if !is_translated(before) {
                    texts.push(joined.collect());
                }
            }
            _ => {}
        }
    }
    texts
}

/// Whether the statement that ends with `before` only prints or sends its text, so that it is not
/// stored.
fn is_translated(before: &str) -> bool {
    let begin = before.rfind([';', '{', '}']).map_or(0, |at| at + 1);
    SHOWN.iter().any(|call| before[begin..].contains(call))
}

/// Replaces each placeholder by a number.
fn filled(text: &str) -> String {
    let mut parts = text.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |told, part| told + "7" + part.split_once('}').map_or("", |(_, after)| after))
}

/// A Chinese page with this note.
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

#[test]
fn sentences_of_the_source_have_chinese_phrases() {
    assert!(!is_chinese("a sentence that no source makes"), "nothing is marked as English");
    let mut seen = Vec::new();
    let mut without = Vec::new();
    for (path, source) in MAKERS.iter().flat_map(|maker| sources(maker)) {
        for text in texts(&source) {
            let needle = NEEDLES.iter().any(|needle| path == needle.0 && text.len() < needle.1);
            // Parts of sentences start with the separator that joins them.
            let piece = text.starts_with([' ', ',', ';']) || IN_PIECES.contains(&text.as_str());
            let is_words = text.contains(' ') && text.contains(char::is_alphabetic);
            if needle || !is_words {
                continue;
            }
            seen.push(text.clone());
            if !piece && !NOT_STORED.contains(&text.as_str()) && !is_chinese(&filled(&text)) {
                without.push(format!("{path}: {text}"));
            }
        }
    }
    assert!(without.is_empty(), "no Chinese in core/report/src/translate/words for:\n{}", without.join("\n"));
    assert!(seen.len() > 150, "the sources are not found: {seen:?}");
    let gone: Vec<_> =
        IN_PIECES.iter().chain(&NOT_STORED).filter(|text| !seen.iter().any(|own| own == *text)).collect();
    assert!(gone.is_empty(), "no source has {gone:?}");
}

#[test]
fn whole_sentences_are_translated() {
    let without: Vec<_> = WHOLE.iter().filter(|sentence| !is_chinese(sentence)).collect();
    assert!(without.is_empty(), "{without:#?}");
}

/// Every file that stores sentences in the record is known here.
#[test]
fn who_stores_sentences_is_known() {
    let all = of_the_program();
    // Judgements of settings are not part of a run.
    let storing = all.iter().filter(|(path, _)| !path.starts_with("core/tuning/"));
    let storing = storing.filter(|(_, text)| STORES.iter().any(|way| text.contains(way)));
    let storing: Vec<&str> = storing.map(|(path, _)| path.as_str()).collect();
    let is_maker = |path: &str| {
        MAKERS.iter().any(|maker| path.starts_with(maker.split(": ").next().unwrap_or_default()))
    };
    let strange: Vec<_> =
        storing.iter().filter(|path| !is_maker(path) && !ONLY_PASS_ON.contains(path)).collect();
    assert!(
        strange.is_empty(),
        "no test checks whether their stored sentences have a Chinese phrase: {strange:#?}"
    );
    let gone: Vec<_> = ONLY_PASS_ON.iter().filter(|path| !storing.contains(path)).collect();
    assert!(gone.is_empty(), "they store nothing any more: {gone:?}");
}

/// Names and responses come from outside: the value of a placeholder is always plain text.
#[test]
fn a_placeholder_contains_only_text() {
    let page = page("<b>x</b>: status 500 · `<script>` broke: <img src=x>");
    assert!(page.contains("：状态码 500") && !page.contains("<b>x") && !page.contains("<img"), "{page}");
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
}
