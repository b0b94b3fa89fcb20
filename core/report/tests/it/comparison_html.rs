//! The page of a comparison: every answer in both languages, untrusted text cannot escape its
//! place, nothing is loaded.

use crate::support;

use support::compared::{HOSTILE, doc};
use wavetank_measure::{TimeBucket, TimeSeries};
use wavetank_record::{CompareAnswer, CompareDoc, MetricDoc, Number, RunRecord};
use wavetank_report::{
    CompareSource, Language, SideTimeSeries, comparison_html, comparison_markdown, comparison_text,
};
use wavetank_units::{Nanos, Sentence};

#[track_caller]
fn check(answer: CompareAnswer, language: Language, mentions: &[&str]) {
    let side = SideTimeSeries::default();
    let source = CompareSource { doc: &doc(answer), courses: [&side, &side], command: HOSTILE };
    let page = comparison_html(source, language);
    let printed = page.replace('\u{a0}', " ");
    for word in mentions {
        assert!(printed.contains(word), "{answer:?} {language:?} does not show `{word}`: {page}");
    }
    assert!(!page.contains("<script") && !page.contains('\u{202e}'), "{page}");
    assert!(
        page.contains("default-src 'none'") && !page.contains("http://") && !page.contains("https://"),
        "{page}"
    );
    for id in ["summary", "values", "runs", "notes", "repeat"] {
        assert_eq!(page.matches(&format!("<section id=\"{id}\"")).count(), 1, "{id}: {page}");
    }
    assert!(!page.contains("id=\"course\"") && !page.contains("id=\"times\""), "there is nothing over time");
}

#[test]
fn percentiles_that_dropped_requests_leave_unknown_are_not_reported() {
    let side = |dropped: u64| {
        let mut course = TimeSeries::default();
        (1..=100_000_u64).for_each(|n| course.response.record(n * 1_000));
        let mut record = RunRecord::default();
        (record.requests.offered, record.requests.dropped) = (100_000 + dropped, dropped);
        let mut side = SideTimeSeries::default();
        side.add(&course, &record);
        side
    };
    let (whole, cut) = (side(0), side(25_000));
    let source = CompareSource { doc: &doc(CompareAnswer::Difference), courses: [&whole, &cut], command: "" };
    let page = comparison_html(source, Language::English);
    let times = page.split("<section id=\"times\"").nth(1).expect("percentiles are listed");
    let times = times.split("</section>").next().expect("it ends");
    let (a, b) = times.split_once("<tbody").and_then(|(_, rows)| rows.split_once("</tr>")).expect("two rows");
    assert!(!a.contains("&gt; dropped"), "nothing of A was dropped: {a}");
    // A fifth was dropped: p50 and p75 are known.
    assert_eq!(b.matches("&gt; dropped").count(), 5, "{b}");
    let printed = times
        .split("B, 100")
        .nth(1)
        .and_then(|rest| rest.split(" values: ").nth(1))
        .and_then(|rest| rest.split('<').next())
        .expect("a paragraph");
    assert!(
        printed.starts_with("50 %") && !printed.contains("90 %") && !printed.contains("max"),
        "{printed}"
    );
}

#[test]
fn intervals_targets_and_differences_are_spoken_of_where_there_are_some() {
    let page = |doc: &CompareDoc| {
        let side = SideTimeSeries::default();
        let source = CompareSource { doc, courses: [&side, &side], command: "" };
        comparison_html(source, Language::English).replace('\u{a0}', " ")
    };
    let (own, seconds) = ("Intervals are not corrected", "The intervals below are computed from the seconds");
    let mut doc = doc(CompareAnswer::Undecided);
    assert!(
        page(&doc).contains(own) && !page(&doc).contains(seconds),
        "three runs a side: from how they differ"
    );
    let mut single = doc.clone();
    for side in [&mut single.a, &mut single.b] {
        side.runs.truncate(1);
    }
    assert!(page(&single).contains(own) && page(&single).contains(seconds));
    for doc in [&mut doc, &mut single] {
        doc.metrics.iter_mut().for_each(|metric| (metric.low, metric.high) = (None, None));
        assert!(!page(doc).contains(own) && !page(doc).contains(seconds), "no value has an interval");
    }

    let times = |page: &str| page.split("<h1>").nth(1).expect("a heading").matches("class=\"when\"").count();
    assert_eq!(times(&page(&doc)), 1, "both sides have one target");
    doc.a.runs[0].target = "http://a/".to_owned();
    let printed = page(&doc);
    assert_eq!(times(&printed), 2);
    assert!(printed.contains("A: 3 runs · <bdi>http://a/</bdi> · "), "{printed}");

    doc.answer = CompareAnswer::NoDifference;
    doc.metrics.remove(0);
    (doc.metrics[0].runs_needed, doc.metrics[0].name) = (Some(12), "p50".to_owned());
    let printed = page(&doc);
    assert!(
        printed.contains("The smallest detectable change is shown next to each value if it is known"),
        "{printed}"
    );
    assert!(
        !printed.contains("all reported differences are real") && printed.contains("would be 5 % at most"),
        "{printed}"
    );
    assert!(printed.contains("the one in p50 (25 % higher) matters: about 12 runs"), "{printed}");
    (doc.metrics[0].runs_needed, doc.metrics[0].smallest_seen) = (None, Some(Number(3.0)));
    assert!(page(&doc).contains("Yes, if less than a doubling of p50 matters"));
}

/// As on a run's page: uncertain values, the terms that are used, and the first letters of
/// sentences.
#[test]
fn a_comparison_marks_and_explains_as_a_run_does() {
    let page = |doc: &CompareDoc, language| {
        let side = SideTimeSeries::default();
        comparison_html(CompareSource { doc, courses: [&side, &side], command: "" }, language)
    };
    let en = |doc: &CompareDoc| page(doc, Language::English);
    let mut doc = doc(CompareAnswer::NoDifference);
    doc.metrics.truncate(1);
    doc.metrics[0].verdict = "not_judged".to_owned();
    doc.metrics[0].judged = false;
    let forms = |doc: &CompareDoc| [en(doc), comparison_text(doc), comparison_markdown(doc)];
    assert!(forms(&doc).iter().all(|form| !form.contains('~')), "nothing is uncertain");
    doc.metrics[0].why = MetricDoc::FEW_ABOVE;
    for form in forms(&doc) {
        assert!(form.contains("~40.0") && form.contains("~50.0"), "{form}");
    }
    let printed = en(&doc);
    assert!(
        printed.contains("~40.0\u{a0}ms → ~50.0\u{a0}ms") && printed.contains("on one side at least"),
        "{printed}"
    );
    for term in ["~", "p99", "B/A", "95 % interval"] {
        assert!(printed.contains(&format!("<dt>{term}</dt>")), "{term}: {printed}");
    }
    assert!(!printed.contains("<dt>Phase</dt>"), "{printed}");
    assert!(page(&doc, Language::Chinese).contains("<dt>95 % 区间</dt>"));

    (doc.warnings, doc.notes) =
        (vec![Sentence::quoted("kernel is another")], vec![Sentence::quoted("`x` is a name")]);
    let printed = en(&doc);
    assert!(printed.contains("<p class=\"headline sentence\">in 0 values"), "{printed}");
    assert!(
        printed.contains("<li class=\"sentence\">kernel is")
            && printed.contains("<li class=\"\"><code>x</code>"),
        "{printed}"
    );
    doc.answer = CompareAnswer::Difference;
    assert!(en(&doc).contains("<p class=\"headline\">"), "a value's name stays as it is");
}

/// Percentiles of a point with few responses are marked in the table of their chart.
#[test]
fn percentiles_over_time_are_marked() {
    let side = |answers: u64| {
        let mut course = TimeSeries { column: Nanos::SECOND, ..TimeSeries::default() };
        let mut column = TimeBucket { len: Nanos::SECOND, intervals: 1, ..TimeBucket::default() };
        (1..=answers).for_each(|n| column.response.record(n * 1_000));
        course.columns.push(column);
        let record = RunRecord { duration_s: Number(1.0), ..RunRecord::default() };
        let mut side = SideTimeSeries::default();
        side.add(&course, &record);
        side
    };
    let (few, many) = (side(500), side(2_000));
    let source = CompareSource { doc: &doc(CompareAnswer::Difference), courses: [&few, &many], command: "" };
    let page = comparison_html(source, Language::English);
    let tail = page.split("Numbers of “Response time, p99”").nth(1).expect("a table");
    let tail = tail.split("</table>").next().expect("it ends");
    assert_eq!(tail.matches(">~").count(), 1, "{tail}");
    for (chart, dotted) in [("tail", true), ("median", false), ("rate", false)] {
        let drawn =
            page.split(&format!("id=\"{chart}\"")).nth(1).and_then(|rest| rest.split("</figure>").next());
        assert_eq!(drawn.expect("a chart").contains(" faint\""), dotted, "{chart}");
    }
}

/// If nothing is judged, that and the missing number of runs come before all values. Only
/// comparisons of single runs mention that they are single.
#[test]
fn what_is_not_judged_comes_before_its_values() {
    let page = |doc: &CompareDoc| {
        let side = SideTimeSeries::default();
        comparison_html(CompareSource { doc, courses: [&side, &side], command: "" }, Language::English)
    };
    let place = |page: &str, text: &str| page.find(text).unwrap_or_else(|| panic!("no `{text}`: {page}"));
    let mut undecided = doc(CompareAnswer::Undecided);
    for side in [&mut undecided.a, &mut undecided.b] {
        side.runs.truncate(1);
    }
    let printed = page(&undecided);
    let (values, needed) =
        (place(&printed, "<dl class=\"numbers\">"), place(&printed, "Yes: at least 3 per side"));
    assert!(place(&printed, "Inconclusive: these runs") < needed && needed < values, "{printed}");
    let printed = page(&doc(CompareAnswer::Difference));
    assert!(
        place(&printed, "<dl class=\"numbers\">") < place(&printed, "Are more runs needed?"),
        "{printed}"
    );

    let printed = page(&doc(CompareAnswer::Undecided));
    assert!(
        !printed.contains("One run per side") && !printed.contains("one run per side"),
        "three are listed: {printed}"
    );
    assert!(
        !printed.contains("Yes: at least 3 per side") && printed.contains("too few samples, more or longer"),
        "{printed}"
    );
}

/// No line breaks inside a name of ours or an option, and a command is code.
#[test]
fn names_and_commands_stay_whole() {
    let mut doc = doc(CompareAnswer::Difference);
    doc.metrics[0].name = "cpu_per_request(generator)".to_owned();
    doc.metrics[1].name = "p99(a step with quite a long name)".to_owned();
    doc.next = vec![Sentence::quoted("compare 3 with 3: wavetank compare A1,A2,A3 B1,B2,B3")];
    let side = SideTimeSeries::default();
    let page =
        comparison_html(CompareSource { doc: &doc, courses: [&side, &side], command: "" }, Language::English);
    assert!(page.contains("<th scope=\"row\"><bdi>cpu_per_request(generator)"), "{page}");
    assert!(page.contains("<th class=\"name\" scope=\"row\"><bdi>p99(a step"), "{page}");
    assert!(page.contains(": <code><bdi>wavetank compare A1,A2,A3 B1,B2,B3</bdi></code>"), "{page}");
}

#[test]
fn every_answer_has_both_languages() {
    let (en, zh) = (Language::English, Language::Chinese);
    check(
        CompareAnswer::Difference,
        en,
        &[
            "DIFFERENCE",
            "p99 25 % higher (20 % to 30 %)",
            ", worse; a regression is possible</span>",
            "No, not for the result above",
        ],
    );
    check(CompareAnswer::Difference, zh, &["有差异", "p99 高 25 %（20 % 至 30 %）", "不需要"]);
    check(CompareAnswer::Regression, en, &["REGRESSION", "over the 10 % allowed", "class=\"verdict fail\""]);
    check(CompareAnswer::Regression, zh, &["性能退化", "超过允许的 10 %"]);
    check(CompareAnswer::NoDifference, en, &["NO DIFFERENCE SHOWN", "detectable changes: p99 5.0 %"]);
    check(CompareAnswer::NoDifference, zh, &["未见差异", "能够发现的最小差异"]);
    check(CompareAnswer::NoRegression, en, &["NO REGRESSION SHOWN", "inconclusive for p99"]);
    check(CompareAnswer::NoRegression, zh, &["未见退化", "尚不能排除"]);
    check(
        CompareAnswer::Undecided,
        en,
        &["UNDECIDED", "do not show the variation", "the reason is shown above"],
    );
    check(CompareAnswer::Undecided, zh, &["无法判定", "看不出同一侧", "原因见上"]);
}
