//! The HTML page: every section is there if its data is, untrusted text cannot escape its place,
//! nothing is loaded.

use crate::support;

use support::measured::bare;
use support::{closed, failed, finding, held, hopeless, interrupted, invalid, open, unanswered};
use wavetank_record::{
    Blame, EnvironmentDoc, EventLine, Finding, HostDoc, Number, PhaseDoc, Requests, RunRecord, SampleLine,
    Status, Threshold,
};
use wavetank_report::{HtmlSource, Language, html, junit, markdown, text};
use wavetank_units::Sentence;

const LANGUAGES: [Language; 2] = [Language::English, Language::Chinese];

fn page(record: &RunRecord, language: Language) -> String {
    html(bare(record), language)
}

fn all_records() -> Vec<RunRecord> {
    vec![
        closed(),
        open(),
        failed(),
        invalid(),
        interrupted(),
        hopeless(),
        unanswered(),
        held(),
        RunRecord::default(),
    ]
}

#[test]
fn sections_are_there_when_their_data_is() {
    let check = |record: &RunRecord, there: &[&str], absent: &[&str]| {
        for language in LANGUAGES {
            let page = page(record, language);
            for id in there {
                assert!(page.contains(&format!("<section id=\"{id}\"")), "{language:?} has no section {id}");
                assert!(page.contains(&format!("href=\"#{id}\"")), "{language:?}: nothing links to {id}");
            }
            for id in absent {
                assert!(!page.contains(&format!("id=\"{id}\"")), "{language:?} has an empty section {id}");
            }
        }
    };
    let always = ["summary", "findings", "environment", "words"];
    check(&closed(), &always, &["parts", "sessions", "hosts", "examples", "events"]);
    check(&open(), &["requests", "conditions", "times", "connections", "generator"], &["hosts"]);
    check(&held(), &["connections", "parts"], &["examples"]);
    check(&unanswered(), &always, &["requests", "examples"]);
    let mut reported = closed();
    reported.events =
        vec![EventLine { at_ns: 1, text: Sentence::quoted("phase main began"), ..EventLine::default() }];
    reported.samples = vec![SampleLine { kind: "slow".to_owned(), ..SampleLine::default() }];
    check(&reported, &["examples", "events"], &["parts"]);
}

fn is_chinese(letter: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&letter)
}

#[test]
fn the_verdict_is_a_word_with_its_reason() {
    let check = |record: &RunRecord, english: &str, chinese: &str| {
        for (language, word) in [(Language::English, english), (Language::Chinese, chinese)] {
            let page = page(record, language);
            assert!(page.contains(&format!("{word}</h2>")), "{word} is missing");
            assert!(page.contains("</svg><div><h2"), "{word} has no sign next to it");
            let headline =
                page.split("<p class=\"headline").nth(1).and_then(|rest| rest.split("</p>").next());
            let headline = headline.and_then(|reported| Some(reported.split_once("\">")?.1));
            let headline = headline.expect("a first line").replace('\u{a0}', " ");
            let stored = maud::html! { (record.verdict.headline) }.into_string();
            // Translated into Chinese, or shown as stored and marked.
            let reported = match language {
                Language::English => headline.contains(&stored),
                Language::Chinese => {
                    headline == format!("<span lang=\"en\">{stored}</span>")
                        || headline.chars().any(is_chinese)
                }
            };
            assert!(reported && !headline.is_empty(), "{word} is not in {headline}; stored is {stored}");
        }
    };
    check(&closed(), "PASS", "通过 PASS");
    check(&failed(), "FAIL", "未通过 FAIL");
    check(&invalid(), "INVALID", "无效 INVALID");
    check(&interrupted(), "INCOMPLETE", "不完整 INCOMPLETE");
    assert!(page(&invalid(), Language::English).contains("The load generator"), "nothing is blamed");
}

/// Elements and attributes with which a browser fetches, runs or navigates.
const REACHING: [&str; 9] =
    ["<script", "<img", "<iframe", "<object", "<embed", "@import", "url(", " src=", "javascript:"];

#[test]
fn nothing_is_loaded() {
    for record in all_records() {
        for language in LANGUAGES {
            let page = page(&record, language);
            for reaching in REACHING {
                assert!(!page.contains(reaching), "{} has {reaching}", record.name);
            }
            for link in page.split("href=\"").skip(1) {
                let to = link.split('"').next().unwrap_or_default();
                assert!(to.starts_with('#') || to == "data:,", "a link leads to {to}");
            }
            assert!(page.contains("content=\"default-src 'none';"));
        }
    }
}

#[test]
fn what_comes_from_outside_stays_in_its_place() {
    let hostile = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\" onload=\"x' \u{202e}gpj.exe\u{1b}[2J\u{0}]]>";
    let mut record = failed();
    record.name = hostile.to_owned();
    record.id = hostile.to_owned();
    record.version = hostile.to_owned();
    record.command = hostile.to_owned();
    record.target = hostile.to_owned();
    record.started_at = hostile.to_owned();
    record.plan_hash = hostile.to_owned();
    record.rehearsal = Some(Sentence::quoted(hostile));
    record.verdict.reasons = vec![hostile.to_owned(), hostile.to_owned()];
    record.verdict.headline = Sentence::quoted(hostile);
    record.load.text = Sentence::quoted(hostile);
    record.notes = vec![Sentence::quoted(hostile)];
    record.next = vec![Sentence::quoted(hostile)];
    record.errors = [(hostile.to_owned(), 3)].into();
    record.dropped_by = record.errors.clone();
    record.counts = record.errors.clone();
    record.tags = [(hostile.to_owned(), hostile.to_owned())].into();
    record.generator.engine = hostile.to_owned();
    record.thresholds[0].expr = hostile.to_owned();
    record.thresholds[0].why = Sentence::quoted(hostile);
    record.findings = invalid().findings;
    record.findings[0].code = hostile.to_owned();
    record.findings[0].message = Sentence::quoted(hostile);
    record.findings[0].evidence = Sentence::quoted(hostile);
    record.findings[0].hint = Sentence::quoted(hostile);
    let step = wavetank_record::StepDoc {
        name: hostile.to_owned(),
        scenario: hostile.to_owned(),
        ..record.steps[0].clone()
    };
    record.steps = vec![step.clone(), step.clone()];
    record.scenarios = vec![step.clone(), step];
    record.events = vec![EventLine { text: Sentence::quoted(hostile), ..EventLine::default() }];
    let sample = SampleLine {
        kind: "failed".to_owned(),
        class: hostile.to_owned(),
        step: hostile.to_owned(),
        address: hostile.to_owned(),
        detail: hostile.to_owned(),
        ..SampleLine::default()
    };
    record.samples = vec![sample.clone(), SampleLine { kind: "slow".to_owned(), ..sample }];
    let host = HostDoc {
        hostname: hostile.to_owned(),
        cpu_model: hostile.to_owned(),
        kernel: hostile.to_owned(),
        ..HostDoc::default()
    };
    let environment =
        EnvironmentDoc { host, engine_why: Some(hostile.to_owned()), ..EnvironmentDoc::default() };
    for language in LANGUAGES {
        let page = html(HtmlSource { environment: Some(&environment), ..bare(&record) }, language);
        assert!(page.matches("alert(1)").count() > 30, "the names are not there");
        for reaching in ["<script", "<img", "</title><script", "\" onload", "\u{202e}", "\u{1b}", "\u{0}"] {
            assert!(!page.contains(reaching), "{reaching:?} got out, {language:?}");
        }
    }
}

#[test]
fn the_page_is_in_its_language() {
    let english = page(&failed(), Language::English);
    assert!(english.contains("<html lang=\"en\">"));
    assert!(!english.chars().any(is_chinese), "Chinese in the English page");
    let chinese = page(&failed(), Language::Chinese);
    assert!(chinese.contains("<html lang=\"zh-CN\">"));
    assert!(
        chinese.contains("<span lang=\"en\">p99 8.40\u{a0}ms, not &lt; 5ms</span>"),
        "a stored sentence is not marked"
    );
    let mut stopped = interrupted();
    stopped.verdict.reasons.push("p99 < 5ms".to_owned());
    stopped.verdict.headline = Sentence::quoted("interrupted by a signal");
    let stopped = page(&stopped, Language::Chinese);
    assert!(
        stopped.contains("<p class=\"headline sentence\">被信号中断</p>"),
        "the first line is in English"
    );
    assert!(stopped.contains("收到信号 <code>signal</code>"), "its reason is a code alone");
    for word in ["Load test report", "bottleneck", "Contents", "Request outcomes", "Glossary"] {
        assert!(!chinese.contains(word), "`{word}` was not translated");
    }
}

#[test]
fn headings_come_in_order_and_names_are_used_once() {
    for record in all_records() {
        let page = page(&record, Language::English);
        let levels =
            page.match_indices("<h").filter_map(|(at, _)| page[at + 2..].chars().next()?.to_digit(10));
        let levels: Vec<u32> = levels.collect();
        assert_eq!(levels[0], 1);
        assert_eq!(levels.iter().filter(|&&level| level == 1).count(), 1, "one h1");
        assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "a level is skipped: {levels:?}");
        let mut ids: Vec<_> =
            page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "a name is used twice");
    }
}

#[test]
fn what_speaks_against_the_blame_is_reported_last() {
    let mut record = failed();
    let decisive = finding("slow", Blame::Target, "the target was slow", "", "");
    let aside = finding("behind", Blame::Generator, "a load thread could not keep up", "", "");
    record.findings = vec![Finding { decisive: false, ..aside }, decisive];
    let page = page(&record, Language::English);
    let summary = page.split("<section id=\"findings\"").next().expect("the first page");
    let (own, against) = summary.split_once("Note, however").expect("it is shown");
    assert!(
        own.contains("the target was slow") && against.contains("a load thread could not keep up"),
        "{summary}"
    );
    assert!(!against.contains("Note, however"), "shown once: {summary}");
    // Findings next to a failed threshold need not be its cause: the threshold comes first.
    record.findings[1].decisive = false;
    let page = self::page(&record, Language::English);
    let limit = page.split("What was the bottleneck?").nth(1).expect("the bottleneck");
    let (headline, found) = (limit.find("p99 8.40\u{a0}ms, not"), limit.find("the target was slow"));
    assert!(headline < found && headline.is_some(), "{limit}");
}

#[test]
fn conditions_of_a_run_that_was_cut_short_are_not_said_to_hold() {
    let unasked = |expr: &str, ok| Threshold {
        expr: expr.to_owned(),
        ok: Some(ok),
        implicit: true,
        ..Threshold::default()
    };
    let mut nothing = unanswered();
    nothing.requests = Requests::default();
    nothing.connections.offered = 0;
    nothing.thresholds = vec![unasked("done > 0", false), unasked("failed < 1%", true)];
    let english = page(&nothing, Language::English);
    assert!(!english.contains(" held</span>"), "a condition held without a request");
    assert!(english.matches("skipped: nothing was sent").count() > 1, "{english}");
    assert!(english.contains("none: the user set no conditions"), "{english}");
    assert!(page(&nothing, Language::Chinese).contains("跳过：未发出任何请求"));
    let check = |reason: &str, status, said: &str| {
        let mut record = interrupted();
        record.verdict.status = status;
        record.verdict.reasons = vec![reason.to_owned()];
        record.cut_short = None;
        record.thresholds = vec![unasked("failed < 1%", true)];
        assert!(page(&record, Language::English).contains(&format!("{said}</span>")), "{reason}");
        record.thresholds[0].implicit = false;
        let known = said == " pass";
        let (text, markdown, junit) = (text(&record), markdown(&record), junit(&record));
        let why = "passed so far in a run that was cut short";
        let reported =
            if known { "pass      failed < 1%".to_owned() } else { format!("skipped   failed < 1%: {why}") };
        assert!(text.contains(&reported), "{reason}: {text}");
        assert!(markdown.contains(if known { "| pass |" } else { "| skipped |" }), "{reason}: {markdown}");
        assert_eq!(junit.contains(&format!("<skipped message=\"{why}\"")), !known, "{reason}: {junit}");
    };
    check("signal", Status::Incomplete, " skipped: passed so far");
    check("stopped", Status::Incomplete, " skipped: passed so far");
    check("lost", Status::Incomplete, " skipped: passed so far");
    check("undecided", Status::Incomplete, " pass");
    check("", Status::Pass, " pass");
}

/// A run without an end was not checked at its end. An empty list of findings would look as if all
/// was well.
#[test]
fn a_run_without_an_end_is_not_reported_as_clean() {
    let check = |reason: &str, cut_off: bool| {
        let mut record = open();
        record.findings.clear();
        record.verdict.status = Status::Incomplete;
        record.verdict.reasons = vec![reason.to_owned()];
        let page = page(&record, Language::English);
        let reported =
            ["Only per-second data was judged", "no findings beyond"].map(|said| page.contains(said));
        assert_eq!(reported, [cut_off, !cut_off], "{reason}: {page}");
    };
    check("lost", true);
    check("signal", false);
}

#[test]
fn a_phase_rate_that_differs_from_the_plan_is_explained() {
    let check = |rate: f64, reported: bool| {
        let mut phase = PhaseDoc { duration_s: Number(5.0), ..PhaseDoc::default() };
        (phase.requests.done, phase.rate.done_per_s) = (480, Number(rate));
        let record = RunRecord { phases: vec![phase.clone(), phase], ..open() };
        let page = page(&record, Language::English);
        assert_eq!(page.contains("Done/s counts requests that a phase sent"), reported, "{rate}/s");
    };
    check(91.8, true);
    check(96.0, false);
}

#[test]
fn the_glossary_has_the_words_of_its_page() {
    let terms = |record: &RunRecord, language| {
        let page = page(record, language);
        let words = page.split("<section id=\"words\"").nth(1).expect("a glossary").to_owned();
        words
            .split("<dt>")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('<')?.0.to_owned()))
            .collect::<Vec<_>>()
    };
    let check = |record: &RunRecord, language, there: &[&str], absent: &[&str]| {
        let terms = terms(record, language);
        assert!(there.iter().all(|word| terms.iter().any(|own| own == word)), "{terms:?}");
        assert!(!absent.iter().any(|word| terms.iter().any(|own| own == word)), "{terms:?}");
    };
    check(
        &closed(),
        Language::English,
        &["Closed loop", "p99", "Service"],
        &["Session", "INVALID", "Plateau", "~"],
    );
    check(&held(), Language::English, &["Plateau", "Phase", "Lost", "Planned", "Open"], &["INCOMPLETE"]);
    check(&held(), Language::Chinese, &["计划（planned）"], &["不完整（INCOMPLETE）"]);
    check(&open(), Language::Chinese, &["服务时间（service）", "开环", "~"], &["会话", "无效（INVALID）"]);
}

#[test]
fn a_names_letters_stay_as_they_are() {
    let mut record = failed();
    record.findings =
        vec![finding("before", Blame::Target, "login: status 500", "timeout 12 · reset 3", "look there")];
    let page = page(&record, Language::English);
    let capital = |said: &str| page.contains(&format!("class=\"sentence\">{said}"));
    assert_eq!(["login", "timeout 12", "look there"].map(capital), [false, false, true], "{page}");
}

#[test]
fn percentiles_that_are_bounds_are_marked() {
    let english = page(&invalid(), Language::English);
    assert!(english.contains("&gt; dropped"), "an unknown percentile is shown as if it were known");
    assert!(
        english.contains("only a lower bound is known: too many requests were dropped"),
        "the reason is missing"
    );
    assert!(english.contains("Dropped 4,000 (8\u{a0}%)"), "the first page hides what was never sent");
    assert!(!english.contains("class=\"paper\""), "there is no table behind a chart");
    assert!(english.contains("<dd class=\"number\">≥ "), "the lower bound is missing");
    assert!(
        english.contains("Response times exclude 4,000 dropped requests"),
        "which requests the percentiles cover"
    );
    assert!(page(&invalid(), Language::Chinese).contains("&gt; 丢弃"));
    assert!(page(&open(), Language::English).contains("~31.0 ms"), "an uncertain percentile is not marked");
}
