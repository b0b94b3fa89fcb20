//! The text of every kind of outcome, as a person sees it.

use crate::support;

use support::{closed, failed, golden, hopeless, interrupted, invalid, open, times, unanswered, verdict};
use wavetank_record::{
    Blame, ConnectionMemory, Generator, Number, PhaseDoc, RUN_SCHEMA, RateDoc, Requests, RunRecord, Status,
    StepDoc, Times, TlsDoc, Warmup,
};
use wavetank_report::{Language, html, markdown, oneline, text};

const COLUMNS_MAX: usize = 100;

/// Compares with the golden, and checks every text: width, no trailing blanks, no colour. A record
/// read back from its archive must print the same.
fn check(name: &str, record: &RunRecord) {
    let printed = text(record);
    golden(&format!("{name}.txt"), &printed);
    for line in printed.lines() {
        assert!(line.chars().count() <= COLUMNS_MAX, "too wide: {line}");
        assert_eq!(line, line.trim_end(), "blanks at the end");
    }
    assert!(printed.ends_with('\n') && !printed.contains('\u{1b}'));
    let stored = RunRecord::from_json(&record.to_json()).expect("it was written by us");
    assert_eq!(text(&stored), printed, "the archive says something else");
}

#[test]
fn each_outcome_has_its_text() {
    check("closed", &closed());
    check("open", &open());
    check("failed", &failed());
    check("invalid", &invalid());
    check("interrupted", &interrupted());
    check("hopeless", &hopeless());
    check("unanswered", &unanswered());
    check("empty", &RunRecord { schema: RUN_SCHEMA.to_owned(), ..RunRecord::default() });
}

#[test]
fn one_line_has_the_reason_and_the_limit() {
    let check = |record: &RunRecord, parts: &[&str], not: &str| {
        let line = oneline(record);
        assert_eq!(line.matches('\n').count(), 1, "{line}");
        assert!(parts.iter().all(|part| line.contains(part)), "{parts:?}: {line}");
        assert!(!line.contains(not), "{not}: {line}");
    };
    let sent = "no request was sent";
    check(
        &unanswered(),
        &["FAIL · no answer to the first request: connection refused", "limit target"],
        sent,
    );
    check(&failed(), &["FAIL · p99 8.40 ms, not < 5ms · ", " req/s", "limit target"], "stopped");
    let twice = "signal · stopped";
    check(&interrupted(), &["INCOMPLETE · stopped after 4 s of 10 s: interrupted by a signal · "], twice);
    check(&open(), &["PASS · done 4,999 req/s", "no limit reached"], "load generator");
    let mut late = RunRecord { lag_us: times(50_000, [800.0; 5]), ..open() };
    check(&late, &["(800 µs of it is the load generator's)", "limit not determined"], "no limit");
    assert!(markdown(&late).contains("the bottleneck is not determined"), "p50 alone is late");
    let waited_not = RunRecord { response_us: times(2, [0.0; 5]), ..late.clone() };
    assert!(!markdown(&waited_not).contains("load generator's"), "nothing is a part of no time");
    late.verdict = verdict(Status::Incomplete, &["running"], Blame::None, "results so far");
    check(&late, &["RUNNING · ", "limit not determined"], "INCOMPLETE");
}

#[test]
fn phases_and_steps_are_distinguished() {
    let requests =
        Requests { offered: 60_000, sent: 60_000, done: 59_000, failed: 1_000, ..Requests::default() };
    let response_us = times(59_000, [1_000.0, 2_000.0, 3_000.0, 4_000.0, 5_000.0]);
    let phase = |name: &str| PhaseDoc {
        name: name.to_owned(),
        duration_s: Number(30.0),
        requests,
        rate: RateDoc { offered_per_s: Number(2_000.0), done_per_s: Number(1_966.7) },
        response_us: response_us.clone(),
        ..PhaseDoc::default()
    };
    let step = |name: &str, response_us: &Times| StepDoc {
        name: name.to_owned(),
        requests,
        response_us: response_us.clone(),
        ..StepDoc::default()
    };
    let record = RunRecord {
        phases: vec![phase("climb"), phase("plateau")],
        steps: vec![step("GET /cart", &response_us), step("POST /checkout", &Times::default())],
        warmup: Warmup { requests: Some(requests), ..Warmup::default() },
        verdict: verdict(
            Status::Pass,
            &[],
            Blame::Generator,
            "the generator was the limit: this rate is a lower bound",
        ),
        ..open()
    };
    check("phases", &record);
}

/// The text on negotiated protocols comes from counts: a protocol alone if all connections agreed
/// on it, otherwise with its share.
#[test]
fn handshakes_are_reported_by_what_they_agreed_on() {
    let counts = |named: &[(&str, u64)]| named.iter().map(|&(name, n)| (name.to_owned(), n)).collect();
    let record = RunRecord {
        connect_us: times(50, [88.0, 120.0, 180.0, 180.0, 180.0]),
        tls_us: times(50, [1_088.0, 1_120.0, 1_180.0, 1_180.0, 1_180.0]),
        tls: Some(TlsDoc {
            handshakes: 50,
            resumed: 0,
            failed: 0,
            version: counts(&[("TLSv1.3", 50)]),
            cipher: counts(&[("TLS_AES_128_GCM_SHA256", 50)]),
            group: counts(&[("X25519", 50)]),
            alpn: counts(&[("http/1.1", 50)]),
        }),
        generator: Generator {
            connection_memory: Some(ConnectionMemory {
                connections: 2_000,
                grown_bytes: 41_000_000,
                bytes_per_connection: 20_500,
            }),
            // The CPU time includes a warm-up and a drain.
            cpu_over_s: Some(Number(15.0)),
            ..closed().generator
        },
        ..closed()
    };
    check("handshakes", &record);
    let mixed = RunRecord {
        tls: Some(TlsDoc {
            handshakes: 1_000,
            resumed: 900,
            failed: 3,
            version: counts(&[("TLSv1.2", 250), ("TLSv1.3", 750)]),
            cipher: counts(&[
                ("TLS_AES_128_GCM_SHA256", 750),
                ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 250),
            ]),
            group: counts(&[("X25519", 80)]),
            alpn: counts(&[]),
        }),
        ..record.clone()
    };
    check("handshakes_mixed", &mixed);
    let none = RunRecord { tls: Some(TlsDoc { failed: 7, ..TlsDoc::default() }), ..record };
    check("handshakes_failed", &none);
}

/// INVALID is never shown without its reason, whatever the record lacks.
#[test]
fn a_verdict_always_has_its_reason() {
    for status in [Status::Fail, Status::Invalid, Status::Incomplete] {
        for (reasons, headline, expected) in [
            (vec!["late"], "late: 3 % of offered", "late: 3 % of offered"),
            (vec!["late", "stalled"], "", "late, stalled"),
            (vec![], "", "for a reason that was not recorded"),
        ] {
            let record =
                RunRecord { verdict: verdict(status, &reasons, Blame::Generator, headline), ..closed() };
            let printed = text(&record);
            let first = printed.lines().next().expect("there is a line");
            assert!(first.starts_with(&status.name().to_uppercase()) && first.contains(expected), "{first}");
        }
    }
}

/// A long headline continues on the next line and is not cut.
#[test]
fn long_words_are_kept_whole() {
    let headline = "late ".repeat(40);
    let record =
        RunRecord { verdict: verdict(Status::Invalid, &["late"], Blame::Generator, &headline), ..closed() };
    check("long_headline", &record);
    // The code appears once more as the reason.
    assert_eq!(text(&record).matches("late").count(), 40 + 1);
}

/// Whatever the damage of an archive, its text fits the terminal and has no control characters.
#[test]
fn damaged_records_never_panic() {
    let stored = failed().to_json();
    let (mut seed, mut accepted) = (0x9e37_79b9_7f4a_7c15_u64, 0);
    for round in 0..4_000 {
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize
        };
        let mut bytes = stored.clone().into_bytes();
        for _ in 0..=next() % 3 {
            let at = next() % bytes.len();
            match next() % 3 {
                0 => bytes[at] = b"09e-\"x ,"[next() % 8],
                1 => bytes.insert(at, b"9e\x1b-"[next() % 4]),
                _ => drop(bytes.splice(at..at, b"\\u001b[2J".iter().copied())),
            }
        }
        let Ok(record) = RunRecord::from_json(&String::from_utf8_lossy(&bytes)) else { continue };
        let printed = std::panic::catch_unwind(|| text(&record) + &wavetank_report::junit(&record));
        assert!(printed.is_ok(), "round {round}: {}", String::from_utf8_lossy(&bytes));
        let printed = text(&record);
        assert!(printed.lines().all(|line| line.chars().count() <= COLUMNS_MAX), "round {round}: {printed}");
        assert!(!printed.contains('\u{1b}'), "round {round}: {printed}");
        accepted += 1;
    }
    assert!(accepted > 100, "only {accepted} of them were records");
}

/// `50 connections` was requested. Without a remark, readers would take it for the number that was
/// open.
#[test]
fn connections_that_never_opened_are_reported() {
    let mut record = closed();
    record.connections.opened = 44;
    record.connections.peak = 43;
    assert!(text(&record).contains("connects   opened 44 of 50 · peak 43"), "{}", text(&record));
    record.load.model = "open".to_owned();
    assert!(!text(&record).contains("connects"), "a pool opens what it needs");
}

/// An archive that lost its intervals proves nothing about what was sent.
#[test]
fn nothing_sent_is_not_nothing_on_record() {
    let empty = |reason| RunRecord {
        verdict: verdict(Status::Incomplete, &[reason], Blame::None, ""),
        requests: Requests::default(),
        ..closed()
    };
    assert!(text(&empty("signal")).contains("measured   nothing: no request was sent"));
    assert!(text(&empty("lost")).contains("measured   nothing: no request is on record"));
}

/// Responses received in the drain are in no rate. `0 requests/s` next to a p50 would look like a
/// contradiction.
#[test]
fn a_load_shorter_than_its_answers_is_shown_in_counts() {
    for record in [closed(), open()] {
        let mut record = record;
        record.rate.done_per_s = Number(0.0);
        let printed = text(&record);
        assert!(printed.contains("done, all after the load ended · p50"), "{printed}");
    }
}

/// A lower bound is printed as one.
#[test]
fn dropped_requests_hide_the_percentiles_they_belong_to() {
    let printed = text(&invalid());
    assert!(printed.contains("p99 > dropped"), "{printed}");
    assert!(
        printed.lines().any(|line| line.starts_with("response") && line.matches("> dropped").count() == 2),
        "{printed}"
    );
}

/// For a run that holds connections, the most relevant number is the lowest count of any second, so
/// it comes first.
#[test]
fn held_connections_come_first() {
    fn check(record: &RunRecord, first: &[&str]) {
        let printed = text(record);
        let lines: Vec<_> = printed.lines().skip_while(|line| !line.starts_with("held ")).collect();
        assert_eq!(lines[..first.len()], *first, "{printed}");
        assert!(!printed.contains("connects "), "{printed}");
    }
    let mut record = support::held();
    check(
        &record,
        &[
            "held       lowest second 999,995 of 1,000,000 planned (at 52 s)",
            "           target counted 999,995, plus 3 from before (12.0 ms after)",
            "           kernel 1,999,996 TCP sockets in use, 1,999,992 more than before, 2 of them for queries to",
            "           the target (107 µs after) · allocated on the host 2,000,010, TIME_WAIT 12",
            "           opened 1,000,005 · lost 5 · re-opened 5 · opened late 1,204",
        ],
    );
    record.held.push(record.held[0].clone());
    check(&record, &["held       keep: lowest second 999,995 of 1,000,000 planned (at 52 s)"]);
    record.held.clear();
    check(&record, &["held       peak 1,000,000 of 1,000,000 planned · no phase held a constant number"]);
}

/// No view of a run hides the generator's part of a time, or says that there was no limit.
#[test]
fn the_part_of_the_generator_is_next_to_the_time() {
    let late = RunRecord {
        response_us: times(50_000, [1_200.0, 2_000.0, 333_000.0, 400_000.0, 500_000.0]),
        lag_us: times(50_000, [100.0, 900.0, 214_000.0, 300_000.0, 310_000.0]),
        ..open()
    };
    let said = "p99 333 ms (214 ms of it is the load generator's)";
    let unwrapped = text(&late).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains(said) && !unwrapped.contains("p50 1.20 ms ("), "{unwrapped}");
    let page = markdown(&late);
    assert!(page.contains("214 ms of the response time's p99 is the load generator's"), "{page}");
    assert!(!page.contains("no limit was reached") && markdown(&open()).contains("no limit was reached"));
    let english = html(support::measured::bare(&late), Language::English);
    assert!(english.contains("214\u{a0}ms of it is the load generator's"), "{english}");
    let chinese = html(support::measured::bare(&late), Language::Chinese);
    assert!(chinese.contains("214\u{a0}ms 来自发压端"), "{chinese}");
    assert!(!english.contains("no limit was reached") && !chinese.contains("未触及任何上限"));
    // The lag of a percentile that dropped requests leave unknown is shown nowhere.
    assert!(!text(&invalid()).contains("> dropped ("));
}
