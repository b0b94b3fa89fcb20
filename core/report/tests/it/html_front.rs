//! The first page: its statements, and the texts next to its numbers.

use crate::support;

use support::measured::bare;
use support::{asked, closed, failed, finding, implicit, invalid, open, times};
use wavetank_record::{
    Blame, CheckDoc, Connections, Number, RateDoc, Requests, RunRecord, SampleLine, Status, Threshold,
};
use wavetank_report::{Language, html, text};

fn page(record: &RunRecord, language: Language) -> String {
    html(bare(record), language)
}

#[test]
fn the_first_page_claims_what_was_asked() {
    let mut record = failed();
    record.thresholds =
        vec![implicit("done > 0", Some(true), 9.0), implicit("failed < 1%", Some(false), 0.02)];
    let page = |record: &RunRecord| page(record, Language::English);
    let shown = |record: &RunRecord| {
        let page = page(record);
        let (_, shown) = page.split_once("none: the user set no conditions").expect("no threshold was set");
        shown.split("</dd>").next().expect("it ends").to_owned()
    };
    let broken = |expr: &str| {
        format!("✗</span> fail</span> <code class=\"option\"><bdi>{expr}</bdi></code> (implicit)")
    };
    let claims = shown(&record);
    assert!(claims.contains(&broken("failed &lt; 1%")), "{claims}");
    assert!(
        claims.contains("pass</span> · implicit, added by Wavetank: <code class=\"option\"><bdi>done"),
        "{claims}"
    );
    assert_eq!([claims.matches("done").count(), claims.matches("failed").count()], [1, 1], "{claims}");
    // A failed threshold is named even if nothing was sent, when nothing else is judged.
    let refused = RunRecord {
        requests: Requests::default(),
        connections: Connections::default(),
        verdict: support::verdict(Status::Fail, &["done > 0"], Blame::Unknown, "`done > 0` broke: 0"),
        thresholds: vec![implicit("done > 0", Some(false), 0.0), implicit("failed < 1%", Some(true), 0.0)],
        ..failed()
    };
    let claims = shown(&refused);
    assert!(claims.contains(&broken("done &gt; 0")), "{claims}");
    assert!(claims.contains("skipped: nothing was sent</span> · implicit, added"), "{claims}");
    assert!(!page(&failed()).contains("the user set no conditions"), "one was");
}

#[test]
fn failures_next_to_the_response_time_are_reported_where_they_are_not_few() {
    let check = |count: u64, shown: bool| {
        let mut record = open();
        record.failed_us = times(count, [900.0, 2_000_000.0, 3_400_000.0, 3_500_000.0, 3_600_000.0]);
        let page = page(&record, Language::English);
        assert_eq!(page.contains("half within 1.20\u{a0}ms · not included: "), shown, "{count}: {page}");
        assert_eq!(page.contains("failed (not by timeout), their p99 3.40\u{a0}s"), shown, "{count}");
    };
    check(5_000, true);
    check(50, true);
    check(10, false);
}

#[test]
fn answers_after_the_load_are_reported_next_to_the_rate() {
    let check = |model: &str, done_per_s: f64, expected: &str| {
        let mut record = open();
        record.load.model = model.to_owned();
        record.duration_s = Number(10.0);
        (record.requests.offered, record.requests.done) = (10_000, 8_000);
        record.bytes.received = 5_000_000;
        record.rate = RateDoc { offered_per_s: Number(1_000.0), done_per_s: Number(done_per_s) };
        let page = page(&record, Language::English);
        assert!(page.contains(&format!("<dd class=\"below\">{expected}</dd>")), "{expected}: {page}");
        // A rate over that time does not include the bytes of those responses.
        let shown = page.contains("<dd>5.0 MB (500 kB/s)</dd>");
        assert_eq!(
            (shown, page.contains("<dd>5.0 MB")),
            (!expected.contains("not included"), true),
            "{page}"
        );
    };
    check("open", 800.0, "of 1,000 req/s offered");
    check("open", 795.0, "of 1,000 req/s offered");
    check("open", 500.0, "of 1,000 req/s offered · not included: 3,000 answered outside the measured time");
    check("closed", 500.0, "5,000 in 10\u{a0}s · not included: 3,000 answered outside the measured time");
}

#[test]
fn what_a_broken_condition_found_is_reported_as_far_as_it_is_known() {
    let check = |expr: &str, ok: Option<bool>, found: &str| {
        let mut record = invalid();
        record.thresholds = vec![Threshold { value: None, ..asked(expr, ok, 0.0, "us") }];
        let shown = format!("<strong>{found}</strong>");
        assert_eq!(page(&record, Language::English).contains(&shown), !found.is_empty(), "{expr}");
        assert_eq!(text(&record).contains("≥ "), !found.is_empty(), "{expr}");
    };
    check("p99 < 1ms", Some(false), "≥ 2.00 ms");
    check("max < 1ms", Some(false), "≥ 91.0 ms");
    check("p99(lag) < 1ms", Some(false), "≥ 999 ms");
    for nothing in
        ["p99(cart) < 1ms", "p99 < 1ms for 10s", "p99 < 1ms in peak", "p99(service) < 1ms", "p99 <"]
    {
        check(nothing, Some(false), "");
    }
    check("p99 < 1ms", None, "");
}

#[test]
fn what_was_found_in_a_run_that_passed_is_reported_even_so() {
    let first_page = |record: &RunRecord| {
        let page = page(record, Language::English);
        page.split("<nav").next().expect("it begins").to_owned()
    };
    let check = |messages: &[&str], shown: &[&str]| {
        let mut record = open();
        record.findings =
            messages.iter().map(|message| finding("late", Blame::Generator, message, "", "")).collect();
        let page = first_page(&record);
        for message in messages.iter().chain(&["and 1 more finding below"]) {
            assert_eq!(page.contains(message), shown.contains(message), "{message}: {page}");
        }
    };
    check(&["it was late"], &["it was late"]);
    check(
        &["it was late", "CPU was taken", "it stood still"],
        &["it was late", "CPU was taken", "and 1 more finding below"],
    );
}

#[test]
fn users_that_wait_are_no_limit_that_was_sought() {
    let shown = |record: &RunRecord| {
        page(record, Language::English).contains("Not determined (closed loop): users wait")
    };
    assert_eq!([shown(&closed()), shown(&open())], [true, false]);
}

#[test]
fn a_broken_condition_is_never_left_out_for_one_that_held() {
    let check = |held: usize, undecided: usize, broken: usize, shown: &[&str], more: &[&str]| {
        let mut record = failed();
        let of = |n: usize, ok| (0..n).map(move |at| asked(&format!("p99 < {at}ms"), ok, 9e3, "us"));
        record.thresholds = of(held, Some(true)).chain(of(undecided, None)).collect();
        record.thresholds.extend((0..broken).map(|_| implicit("done > 0", Some(false), 0.0)));
        let page = page(&record, Language::English);
        let claims = page.split("<ul class=\"claims\">").nth(1).expect("conditions");
        let claims: Vec<_> = claims.split("</ul>").next().unwrap_or_default().split("<li>").skip(1).collect();
        let (own, others): (Vec<&str>, Vec<&str>) = claims.iter().partition(|claim| claim.contains("<code"));
        let results = own.iter().map(|claim| {
            let word =
                ["fail", "undecided", "pass"].into_iter().find(|word| claim.contains(&format!("> {word}<")));
            word.unwrap_or(claim)
        });
        assert_eq!(results.collect::<Vec<_>>(), shown, "{held} {undecided} {broken}");
        assert_eq!(others.len(), more.len(), "{others:?}");
        for (other, more) in others.iter().zip(more) {
            assert!(other.contains(more), "{other}: {more}");
        }
    };
    check(2, 1, 1, &["fail", "undecided", "pass", "pass"], &[]);
    check(6, 0, 1, &["fail", "pass", "pass", "pass", "pass", "pass"], &["and 1 more below"]);
    check(1, 1, 7, &["fail"; 7], &["and 2 more below"]);
    check(1, 1, 20, &["fail"; 20], &["and 2 more below"]);
    check(1, 1, 23, &["fail"; 20], &["fail</span> and 3 more below", "and 2 more below"]);
    check(0, 0, 23, &["fail"; 20], &["fail</span> and 3 more below"]);
}

/// Failed extractions have the same code. Readers must not take the failed checks for the reason of
/// all of them.
#[test]
fn unexplained_failures_are_reported_next_to_failed_checks() {
    let check = |failed_by: &[u64], in_all: u64, examples: bool, shown: &str| {
        let mut record = failed();
        let one = |&failed: &u64| CheckDoc {
            name: format!("body contains {failed}"),
            step: "item".to_owned(),
            held: 10,
            failed,
            ..CheckDoc::default()
        };
        record.checks = failed_by.iter().map(one).collect();
        record.errors = [("check".to_owned(), in_all)].into();
        record.samples = (0..usize::from(examples)).map(|_| SampleLine::default()).collect();
        record.findings = vec![finding("check", Blame::Target, "requests failed: a check", "", "")];
        let page = page(&record, Language::English);
        let line = page.split("Checks that failed: ").nth(1).and_then(|rest| rest.split("</p>").next());
        assert!(line.is_some_and(|line| line.ends_with(shown)), "{line:?}: {shown}");
    };
    let explained = |n| format!(" in {n} of {} answers", n + 10);
    check(&[2], 2, true, &explained(2));
    // Several checks may have failed for one response.
    check(&[3, 2], 3, true, &explained(2));
    check(
        &[2],
        1_002,
        true,
        " in 2 of 12 answers; at least 1,000 requests failed for another reason, such as an extraction: see the first failures below",
    );
    check(&[3, 2], 6, false, "; at least 1 request failed for another reason, such as an extraction");
    check(&[9, 8, 7, 6], 30, true, "; and 1 more below");
    check(&[], 7, false, "none; at least 7 requests failed for another reason, such as an extraction");
}

#[test]
fn failed_checks_are_named_next_to_their_finding() {
    let check = |code: &str, failed_by: &[u64], shown: &[&str]| {
        let one = |(number, &failed): (usize, &u64)| CheckDoc {
            name: format!("time < {number}ms"),
            step: "item".to_owned(),
            held: 10,
            failed,
            ..CheckDoc::default()
        };
        let mut record = failed();
        record.checks = failed_by.iter().enumerate().map(one).collect();
        record.findings = vec![finding(code, Blame::Target, "a check failed", "", "")];
        record.findings[0].decisive = false;
        for status in [Status::Fail, Status::Pass] {
            record.verdict.status = status;
            let page = page(&record, Language::English);
            let summary = page.split("<nav").next().expect("it begins");
            assert_eq!(summary.contains("Checks that failed: "), !shown.is_empty(), "{summary}");
            assert!(shown.iter().all(|shown| summary.contains(shown)), "{shown:?} in {summary}");
            let again = page.matches("Checks that failed: ").count();
            assert_eq!(again, shown.len().min(1) * 2, "there and with the findings");
        }
    };
    let first =
        "<code class=\"option\"><bdi>time &lt; 0ms</bdi></code> (<bdi>item</bdi>) in 30 of 40 answers";
    check("check", &[30], &[first]);
    check("check", &[30, 40, 0], &["Checks that failed: <code class=\"option\"><bdi>time &lt; 1ms", first]);
    check("check", &[30, 40, 20, 10, 5], &[first, "; and 2 more below"]);
    check("check", &[0], &[]);
    check("status", &[30], &[]);
}
