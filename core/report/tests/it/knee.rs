//! A search in every format, with names and conditions that try to be more than text.

use wavetank_record::{
    Blame, Number, SearchAnswerDoc, SearchDoc, SearchPointDoc, SearchRunDoc, SearchSetupDoc, Spread,
};
use wavetank_report::{
    Language, knee_contradicts, knee_csv, knee_curve, knee_drift, knee_headline, knee_html, knee_junit,
    knee_markdown, knee_text, level_text,
};
use wavetank_units::Sentence;

const HOSTILE: &str = "<script>alert(1)</script>|`x`";

fn doc(end: &str, answer: [Option<f64>; 3]) -> SearchDoc {
    let [low, knee, high] = answer.map(|value| value.map(Number));
    let point = |level: f64, passed: u32| SearchPointDoc {
        level: Number(level),
        runs: 3,
        passed,
        done_per_s: Number(level),
        p50_us: Some(Number(4_000.0)),
        p99_us: Some(Number(12_000.0)),
        ..SearchPointDoc::default()
    };
    let mut doc = SearchDoc {
        name: "shop".to_owned(),
        of: "rate".to_owned(),
        unit: "per_s".to_owned(),
        target: HOSTILE.to_owned(),
        command: format!("wavetank search '{HOSTILE}'"),
        thresholds: vec!["p99 < 50ms".to_owned()],
        setup: SearchSetupDoc { from: Number(100.0), to: Number(5_000.0), ..SearchSetupDoc::default() },
        answer: SearchAnswerDoc {
            end: end.to_owned(),
            low,
            knee,
            high,
            low_proven: true,
            high_proven: true,
            confidence: Number(0.95),
            blame: Blame::Target,
            limit: Sentence::quoted(HOSTILE),
            ..SearchAnswerDoc::default()
        },
        curve: vec![point(2_450.0, 3), point(2_510.0, 0)],
        notes: vec![Sentence::quoted(HOSTILE)],
        ..SearchDoc::default()
    };
    doc.answer.headline = knee_headline(&doc);
    doc
}

/// Requests done, and result.
fn run((done, result): (u64, &str)) -> SearchRunDoc {
    let mut run = SearchRunDoc { result: result.to_owned(), ..SearchRunDoc::default() };
    run.requests.done = done;
    run
}

#[track_caller]
fn check(end: &str, answer: [Option<f64>; 3], headline: &str) {
    assert_eq!(doc(end, answer).answer.headline, headline);
}

#[test]
fn the_first_line_is_the_answer() {
    let found = [Some(2_450.0), Some(2_480.0), Some(2_510.0)];
    check(
        "found",
        found,
        "knee estimated at 2,480/s (2,450 to 2,510, 95 %) for p99 < 50ms: 3 of 3 runs passed at 2,450/s, 0 of 3 from 2,510/s up",
    );
    let above = [Some(5_000.0), Some(5_000.0), None];
    check("above", above, "no knee up to 5,000/s: p99 < 50ms passes at the highest allowed level (--to)");
    check("below", [None, None, Some(100.0)], "no knee: p99 < 50ms does not pass at the lowest level, 100/s");
    check(
        "generator",
        [Some(1_600.0), Some(1_600.0), None],
        "at least 1,600/s: p99 < 50ms passes there, and at 5,000/s the generator was the bottleneck, not the target",
    );
    check(
        "signal",
        [Some(1_600.0), None, Some(3_200.0)],
        "interrupted by a signal: so far the knee is between 1,600/s and 3,200/s",
    );
    check(
        "unsteady",
        [Some(1_600.0), Some(2_000.0), Some(3_200.0)],
        "no answer: the target changes with time, not only with the load: so far the knee is between 1,600/s and 3,200/s",
    );
    let mut dead = doc("target", [Some(1_600.0), None, None]);
    dead.runs = [(5, "pass"), (5, "fail"), (0, "fail"), (0, "undecided"), (0, "fail")].map(run).to_vec();
    assert_eq!(
        knee_headline(&dead),
        "no answer: the target stopped answering after 2 runs: so far all levels up to 1,600/s pass"
    );
    // Both levels of `doc` were tried; the lowest is shown.
    check("time", [None; 3], "no time for another run (--max-time): so far 2,450/s passed in 3 of 3 runs");
    let mut unproven = doc("time", [Some(40_000.0), None, Some(95_120.0)]);
    unproven.answer.high_proven = false;
    let reported =
        "no time for another run (--max-time): so far the knee is between 40,000/s and 95,120/s (not proven)";
    assert_eq!(knee_headline(&unproven), reported);
    unproven.setup.quick = true;
    assert!(knee_headline(&unproven).starts_with("quick estimate, about ± 10 %: no time"));
    let mut fresh = doc("time", [None; 3]);
    fresh.curve.clear();
    assert_eq!(knee_headline(&fresh), "no time for another run (--max-time): nothing is known yet");
    let mut open = doc("found", found);
    open.answer.high_proven = false;
    assert!(
        knee_headline(&open).contains("(2,450 to 2,510; the upper end is not proven)"),
        "{}",
        knee_headline(&open)
    );
}

#[test]
fn levels_have_their_unit() {
    let check = |of: &str, level: f64, text: &str| assert_eq!(level_text(of, Number(level)), text);
    check("rate", 133.3, "133.3/s");
    check("rate", 100.0, "100/s");
    check("rate", 1_235_000.0, "1,235,000/s");
    check("rate", 0.25, "0.25/s");
    check("rate", 5.05, "5.05/s");
    check("rate", 5.152, "5.152/s");
    check("rate", 5.203, "5.203/s");
    check("rate", 99.95, "99.95/s");
    check("rate", 0.001_234, "0.001234/s");
    check("rate", 5.0, "5/s");
    check("rate", 0.0, "0/s");
    check("users", 1.0, "1 user");
    check("connections", 1_200.0, "1,200 connections");
}

#[test]
fn every_format_shows_it_as_plain_text() {
    let doc = doc("found", [Some(2_450.0), Some(2_480.0), Some(2_510.0)]);
    let text = knee_text(&doc);
    assert!(text.starts_with(&doc.answer.headline), "{text}");
    assert!(
        text.contains("2,510/s  0 of 3")
            && text.contains("no run passed from here up; upper end of the interval"),
        "{text}"
    );
    let steering = SearchDoc { target: "http://a/\u{1b}[2J\u{202e}".to_owned(), ..doc.clone() };
    let text = knee_text(&steering);
    assert!(!text.contains(['\u{1b}', '\u{202e}']) && text.contains("http://a/"), "{text}");
    let markdown = knee_markdown(&steering);
    assert!(
        !markdown.contains(['\u{1b}', '\u{202e}']) && markdown.contains("target: `http://a/"),
        "{markdown}"
    );
    let csv = knee_csv(&doc);
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert_eq!(csv.lines().nth(1), Some("2450,per_s,3,3,0,,2450,4000,,12000,"));
    let csv = knee_csv(&SearchDoc { unit: "=per,_s\n\"".to_owned(), ..doc.clone() });
    assert_eq!(csv.lines().nth(1), Some("2450,per_s,3,3,0,,2450,4000,,12000,"), "{csv}");
    let markdown = knee_markdown(&doc);
    // The target is an address, so it is shown as code.
    let outside_code = markdown.replace("`<script>alert(1)</script>`", "");
    assert!(!outside_code.contains("<script>") && markdown.contains("\\|`x`\n"), "{markdown}");
    let junit = knee_junit(&doc);
    assert!(junit.contains("testcase name=\"knee\"") && !junit.contains("<script>"), "{junit}");
    let html = knee_html(&doc, Language::English);
    assert!(!html.contains("<script") && html.contains("&lt;script&gt;"), "{html}");
    assert!(html.contains("<svg") && html.contains("2,480") && html.contains("95\u{a0}%"), "{html}");
    assert!(html.contains("<td class=\"n\">4.00 ms</td>"), "numbers are right-aligned: {html}");
    let chinese = knee_html(&doc, Language::Chinese);
    assert!(chinese.contains("已找到拐点") && !chinese.contains("<script"), "{chinese}");
    assert!(!html.contains("http://") || html.contains("www.w3.org"), "nothing is fetched");
}

/// The Chinese page has its own sentence for each English one, built from the same values.
#[test]
fn a_chinese_page_answers_in_chinese() {
    let page = |doc: &SearchDoc| knee_html(doc, Language::Chinese);
    let check = |end: &str, answer: [Option<f64>; 3], headline: &str| {
        // Thresholds are on one line.
        let listed = page(&doc(end, answer)).replace('\u{a0}', " ");
        let headline = headline.replace('\u{a0}', " ");
        assert!(listed.contains(&format!("<p class=\"headline\">{headline}</p>")), "{headline}: {listed}");
    };
    let found = [Some(2_450.0), Some(2_480.0), Some(2_510.0)];
    check(
        "found",
        found,
        "拐点估计为 2,480/s（2,450 至 2,510，置信度 95\u{a0}%），条件为 p99 &lt; 50ms：在 2,450/s 的 3 次运行中成立 3 次，从 2,510/s 起的 3 \
         次中成立 0 次",
    );
    check("below", [None, None, Some(100.0)], "没有拐点：在最低负载 100/s 下 p99 &lt; 50ms 就不成立");
    check(
        "signal",
        [Some(1_600.0), None, Some(3_200.0)],
        "被信号中断；目前可知拐点在 1,600/s 与 3,200/s 之间",
    );
    let option = "<code class=\"option\">--max-time</code>";
    check(
        "time",
        [None; 3],
        &format!("剩余时间不足以再运行一次（{option}）；目前在 2,450/s 的 3 次运行中成立 3 次"),
    );
    let mut doc = doc("found", found);
    doc.answer.limit = Sentence::quoted("`p99 < 50ms` broke: 61 ms");
    doc.notes = vec![Sentence::quoted(
        "500/s passed, but 2 % of it may have been queued at the end of a run: the interval starts at 490/s, \
         which was certainly done in time; longer runs (-d) narrow this down",
    )];
    let listed = page(&doc);
    assert!(
        listed.contains("被测目标：<code class=\"option\">p99 &lt; 50ms</code> 未满足：实测 61\u{a0}ms"),
        "{listed}"
    );
    assert!(listed.contains("500/s 成立") && !listed.contains("lang=\"en\""), "{listed}");
}

/// An interrupted run says nothing about its level, and does not count as invalidated by the
/// generator.
#[test]
fn levels_show_how_many_runs_count() {
    let check = |runs: u32, passed: u32, generator: u32, held: &str| {
        let mut doc = doc("found", [Some(2_450.0), Some(2_480.0), Some(2_510.0)]);
        doc.curve.truncate(1);
        doc.curve[0] = SearchPointDoc { runs, passed, generator, ..doc.curve[0].clone() };
        let text = knee_text(&doc);
        let row = text.lines().last().expect("the level's");
        assert!(row.contains(&format!("2,450/s  {held}  ")), "{row}");
    };
    check(3, 2, 0, "2 of 3");
    check(3, 2, 1, "2 of 3, 1 discarded");
    check(0, 0, 2, "no valid run, 2 discarded");
    check(0, 0, 0, "0 of 0");
}

/// A knee requires a target that does not change.
#[test]
fn a_target_that_changes_is_noted() {
    // Level, result, and requests done, for each run in order.
    let check = |runs: &[(f64, &str, u64)], says: &str| {
        let run = |&(level, result, done): &(f64, &str, u64)| {
            let mut run =
                SearchRunDoc { level: Number(level), result: result.to_owned(), ..SearchRunDoc::default() };
            run.requests.done = done;
            run
        };
        let runs: Vec<_> = runs.iter().map(run).collect();
        let notes = knee_drift("rate", &runs, &knee_curve(&runs, &[]));
        assert_eq!(notes.len(), usize::from(!says.is_empty()), "{notes:?}");
        assert!(notes.iter().all(|note| note.contains(says)), "{notes:?}");
    };
    let dead = (390.0, "fail", 0);
    check(
        &[(200.0, "pass", 9), (400.0, "pass", 9), dead, dead, dead],
        "every request failed from run 3 on, even at 390/s",
    );
    check(&[(200.0, "pass", 9), (400.0, "pass", 9), dead, dead], "");
    // Overload may leave nothing done, and a target that never responded did not stop.
    check(&[(200.0, "pass", 9), dead, dead, dead], "");
    check(&[dead, dead, dead], "");
    check(&[(400.0, "pass", 9), dead, dead, dead, (400.0, "pass", 9)], "");
    let [low, high] = [(300.0, "fail", 7), (360.0, "pass", 9)];
    check(
        &[low, high, low, high, low, high],
        "360/s passed in 3 of 3 runs, but the lower 300/s in only 0 of 3",
    );
    let curve = |runs: &[u32]| {
        let point = |(at, &passed): (usize, &u32)| SearchPointDoc {
            level: Number(100.0 * (at + 1) as f64),
            runs: 3,
            passed,
            ..SearchPointDoc::default()
        };
        runs.iter().enumerate().map(point).collect::<Vec<_>>()
    };
    assert!(knee_contradicts(&curve(&[3, 1, 0, 3, 2])), "300/s never held, 400/s always");
    assert!(!knee_contradicts(&curve(&[3, 1, 2, 3, 0])), "a note is enough");
    check(&[low, high, low, high, high], "");
    let near = (350.0, "fail", 7);
    check(&[near, high, near, high, near, high], "");
}

/// Dropped requests never ended, so a percentile that they reach into has no value.
#[test]
fn dropped_requests_leave_no_percentile() {
    let run = |unknown: &[&str], p99: f64| {
        let spread = Spread {
            p50: Number(1_000.0),
            p99: Number(p99),
            unknown: unknown.iter().map(|&name| name.to_owned()).collect(),
            ..Spread::default()
        };
        let mut run =
            SearchRunDoc { level: Number(100.0), result: "fail".to_owned(), ..SearchRunDoc::default() };
        run.response_us.spread = Some(spread);
        run
    };
    let mut doc = doc("found", [Some(100.0), Some(100.0), Some(110.0)]);
    let mut check = |runs: &[SearchRunDoc], p99: Option<f64>, text: &str, csv: &str| {
        doc.curve = knee_curve(runs, &[]);
        assert_eq!(doc.curve[0].p99_us.map(|value| value.0), p99);
        let listed = knee_text(&doc);
        assert!(listed.lines().last().is_some_and(|row| row.contains(text)), "{text}: {listed}");
        assert_eq!(knee_csv(&doc).lines().last(), Some(csv));
        assert_eq!(knee_html(&doc, Language::English).contains("&gt; dropped"), p99.is_none());
    };
    let (known, unknown) = (run(&[], 9_000.0), run(&["p99", "p99_9"], 2_000.0));
    // The median run; of two the better one.
    check(&[unknown.clone(), known.clone()], Some(9_000.0), "9.00 ms", "100,per_s,2,0,0,,0,1000,0,9000,0");
    check(
        &[unknown.clone(), known, unknown],
        None,
        "1.00 ms  0 ns  > dropped  > dropped",
        "100,per_s,3,0,0,,0,1000,0,,",
    );
}

/// If a run has no response, the times of the other runs are not the times of the level.
#[test]
fn runs_without_answers_are_above_all_others() {
    let check = |answered: usize, of: usize, p99: Option<f64>, unknown: bool| {
        let run = |at: usize| {
            let mut run =
                SearchRunDoc { level: Number(100.0), result: "fail".to_owned(), ..SearchRunDoc::default() };
            let spread = Spread { p99: Number(9_000.0), ..Spread::default() };
            run.response_us.spread = (at < answered).then_some(spread);
            run
        };
        let curve = knee_curve(&(0..of).map(run).collect::<Vec<_>>(), &[]);
        assert_eq!(curve[0].p99_us.map(|value| value.0), p99, "{answered} of {of}");
        assert_eq!(!curve[0].unknown.is_empty(), unknown, "nothing of them was dropped");
    };
    check(3, 3, Some(9_000.0), false);
    check(2, 3, Some(9_000.0), false);
    check(1, 2, Some(9_000.0), false);
    check(1, 3, None, false);
    check(0, 1, None, false);
}

/// The shown lengths and limits are those of the runs.
#[test]
fn lengths_and_limits_are_those_of_the_runs() {
    let check = |asked: f64, runs: &[f64], listed: &str| {
        let mut doc = doc("above", [Some(5_000.0), Some(5_000.0), None]);
        doc.setup.level_s = Number(asked);
        doc.took_s = Number(60.0);
        let run = |&length: &f64| SearchRunDoc { duration_s: Number(length), ..SearchRunDoc::default() };
        doc.runs = runs.iter().map(run).collect();
        let text = knee_text(&doc);
        assert!(text.contains(&format!("search     {listed} in 60 s, seed 0\n")), "{listed}: {text}");
        let page = knee_html(&doc, Language::Chinese);
        let each = listed.split(" of ").last().expect("a length").replace(" to ", "–");
        assert!(page.contains(&format!("每次 {each}，")), "{each}");
        assert!(!text.contains("limit"), "it held up to the highest level: {text}");
    };
    check(1.0, &[55.000_1], "1 run of 55 s");
    check(1.0, &[55.0, 1.000_2, 0.999_9], "3 runs of 1 to 55 s");
    check(2.0, &[2.0, 2.2], "2 runs of 2.00 to 2.20 s");
    check(0.5, &[0.5, 2.0], "2 runs of 500 ms to 2 s");
    // All decimals that are shown were measured.
    check(1.0, &[1.009, 2.2], "2 runs of 1.01 to 2.20 s");
    check(1.0, &[1.000_4, 2.238], "2 runs of 1.00 to 2.24 s");
    check(1.0, &[1.003], "1 run of 1 s");
    // A run that this host could not make took no time.
    check(10.0, &[10.0, 0.0], "2 runs of 10 s");
    check(10.0, &[0.0], "1 run of 10 s");
}
