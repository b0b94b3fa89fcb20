//! The page of a comparison: every answer in both languages, nothing from outside gets out of its place, nothing is loaded.

use wavetank_measure::{Column, Course};
use wavetank_plan::Nanos;
use wavetank_record::{CompareAnswer, CompareDoc, ComparedRunDoc, MetricDoc, Number, RunRecord, SideDoc};
use wavetank_report::{
    CompareSource, Language, SideCourse, comparison_html, comparison_markdown, comparison_text,
};

const HOSTILE: &str = "<script>alert(1)</script>\"&\u{202e}";

fn doc(answer: CompareAnswer) -> CompareDoc {
    let run = ComparedRunDoc {
        id: "7f3a".to_owned(),
        name: HOSTILE.to_owned(),
        started_at: HOSTILE.to_owned(),
        target: HOSTILE.to_owned(),
        load: HOSTILE.to_owned(),
        verdict: "pass".to_owned(),
        duration_s: Number(30.0),
        version: HOSTILE.to_owned(),
    };
    let metric = |name: &str, verdict: &str| MetricDoc {
        name: name.to_owned(),
        unit: "us".to_owned(),
        better: "less".to_owned(),
        a: Some(Number(40_000.0)),
        b: Some(Number(50_000.0)),
        ratio: Some(Number(1.25)),
        low: Some(Number(1.2)),
        high: Some(Number(1.3)),
        p_corrected: Some(Number(0.001)),
        judged: verdict != "not_judged",
        verdict: verdict.to_owned(),
        regression: Some(if answer == CompareAnswer::Regression { "shown" } else { "possible" }.to_owned()),
        smallest_seen: Some(Number(0.05)),
        why: HOSTILE.to_owned(),
        ..MetricDoc::default()
    };
    CompareDoc {
        version: HOSTILE.to_owned(),
        answer,
        level: Number(0.95),
        max_regression: Some(Number(0.1)),
        a: SideDoc { runs: vec![run.clone(); 3] },
        b: SideDoc { runs: vec![run; 3] },
        metrics: vec![
            metric("p99", "difference"),
            metric(HOSTILE, "no_difference"),
            metric("p50", "not_judged"),
        ],
        warnings: vec![HOSTILE.to_owned()],
        notes: vec![HOSTILE.to_owned()],
        next: vec![HOSTILE.to_owned()],
        ..CompareDoc::default()
    }
}

#[track_caller]
fn check(answer: CompareAnswer, language: Language, mentions: &[&str]) {
    let side = SideCourse::default();
    let source = CompareSource { doc: &doc(answer), courses: [&side, &side], command: HOSTILE };
    let page = comparison_html(source, language);
    let told = page.replace('\u{a0}', " ");
    for word in mentions {
        assert!(told.contains(word), "{answer:?} {language:?} does not tell `{word}`: {page}");
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
fn percentiles_that_dropped_requests_leave_unknown_are_not_told() {
    let side = |dropped: u64| {
        let mut course = Course::default();
        (1..=100_000_u64).for_each(|n| course.response.record(n * 1_000));
        let mut record = RunRecord::default();
        (record.requests.offered, record.requests.dropped) = (100_000 + dropped, dropped);
        let mut side = SideCourse::default();
        side.add(&course, &record);
        side
    };
    let (whole, cut) = (side(0), side(25_000));
    let source = CompareSource { doc: &doc(CompareAnswer::Difference), courses: [&whole, &cut], command: "" };
    let page = comparison_html(source, Language::English);
    let times = page.split("<section id=\"times\"").nth(1).expect("percentiles are told");
    let times = times.split("</section>").next().expect("it ends");
    let (a, b) = times.split_once("<tbody").and_then(|(_, rows)| rows.split_once("</tr>")).expect("two rows");
    assert!(!a.contains("&gt; dropped"), "nothing of A was dropped: {a}");
    // A fifth was dropped: p50 and p75 are known.
    assert_eq!(b.matches("&gt; dropped").count(), 5, "{b}");
    let told = times
        .split("B, 100")
        .nth(1)
        .and_then(|rest| rest.split(" values: ").nth(1))
        .and_then(|rest| rest.split('<').next())
        .expect("told");
    assert!(told.starts_with("50 %") && !told.contains("90 %") && !told.contains("max"), "{told}");
}

#[test]
fn intervals_targets_and_differences_are_spoken_of_where_there_are_some() {
    let page = |doc: &CompareDoc| {
        let side = SideCourse::default();
        let source = CompareSource { doc, courses: [&side, &side], command: "" };
        comparison_html(source, Language::English).replace('\u{a0}', " ")
    };
    let (own, seconds) = ("The interval is each value", "The intervals below are from the seconds");
    let mut doc = doc(CompareAnswer::Undecided);
    assert!(
        page(&doc).contains(own) && !page(&doc).contains(seconds),
        "three runs a side: from how they differ"
    );
    let mut single = doc.clone();
    [&mut single.a, &mut single.b].into_iter().for_each(|side| side.runs.truncate(1));
    assert!(page(&single).contains(own) && page(&single).contains(seconds));
    for doc in [&mut doc, &mut single] {
        doc.metrics.iter_mut().for_each(|metric| (metric.low, metric.high) = (None, None));
        assert!(!page(doc).contains(own) && !page(doc).contains(seconds), "no value has an interval");
    }

    let times = |page: &str| page.split("<h1>").nth(1).expect("a heading").matches("class=\"when\"").count();
    assert_eq!(times(&page(&doc)), 1, "both sides have one target");
    doc.a.runs[0].target = "http://a/".to_owned();
    let told = page(&doc);
    assert_eq!(times(&told), 2);
    assert!(told.contains("A: 3 runs · <bdi>http://a/</bdi> · "), "{told}");

    doc.answer = CompareAnswer::NoDifference;
    doc.metrics.remove(0);
    (doc.metrics[0].runs_needed, doc.metrics[0].name) = (Some(12), "p50".to_owned());
    let told = page(&doc);
    assert!(told.contains("where it is known, what would have been seen stands beside the value"), "{told}");
    assert!(
        !told.contains("told as a difference is right") && told.contains("a chance of 5 % at most"),
        "{told}"
    );
    assert!(told.contains("that of p50 (25 % more) matters: about 12 runs"), "{told}");
    (doc.metrics[0].runs_needed, doc.metrics[0].smallest_seen) = (None, Some(Number(3.0)));
    assert!(page(&doc).contains("Yes, if less than a doubling of p50 matters"));
}

/// As on a run's page: a value that another run may well change, the words that are used, and how sentences begin.
#[test]
fn a_comparison_marks_and_explains_as_a_run_does() {
    let page = |doc: &CompareDoc, language| {
        let side = SideCourse::default();
        comparison_html(CompareSource { doc, courses: [&side, &side], command: "" }, language)
    };
    let en = |doc: &CompareDoc| page(doc, Language::English);
    let mut doc = doc(CompareAnswer::NoDifference);
    doc.metrics.truncate(1);
    doc.metrics[0].verdict = "not_judged".to_owned();
    doc.metrics[0].judged = false;
    let forms = |doc: &CompareDoc| [en(doc), comparison_text(doc), comparison_markdown(doc)];
    assert!(forms(&doc).iter().all(|form| !form.contains('~')), "nothing is uncertain");
    doc.metrics[0].why = MetricDoc::FEW_ABOVE.to_owned();
    for form in forms(&doc) {
        assert!(form.contains("~40.0") && form.contains("~50.0"), "{form}");
    }
    let told = en(&doc);
    assert!(
        told.contains("~40.0\u{a0}ms → ~50.0\u{a0}ms") && told.contains("on one side at least"),
        "{told}"
    );
    for term in ["~", "p99", "B/A", "95 % interval"] {
        assert!(told.contains(&format!("<dt>{term}</dt>")), "{term}: {told}");
    }
    assert!(!told.contains("<dt>Phase</dt>"), "{told}");
    assert!(page(&doc, Language::Chinese).contains("<dt>95 % 区间</dt>"));

    (doc.warnings, doc.notes) = (vec!["kernel is another".to_owned()], vec!["`x` is a name".to_owned()]);
    let told = en(&doc);
    assert!(told.contains("<p class=\"headline sentence\">in 0 values"), "{told}");
    assert!(
        told.contains("<li class=\"sentence\">kernel is") && told.contains("<li class=\"\"><code>x</code>"),
        "{told}"
    );
    doc.answer = CompareAnswer::Difference;
    assert!(en(&doc).contains("<p class=\"headline\">"), "a value's name stays as it is");
}

/// Percentiles of a point with few answers are marked in the table behind their chart.
#[test]
fn percentiles_over_time_are_marked() {
    let side = |answers: u64| {
        let mut course = Course { column: Nanos::SECOND, ..Course::default() };
        let mut column = Column { len: Nanos::SECOND, intervals: 1, ..Column::default() };
        (1..=answers).for_each(|n| column.response.record(n * 1_000));
        course.columns.push(column);
        let record = RunRecord { duration_s: Number(1.0), ..RunRecord::default() };
        let mut side = SideCourse::default();
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

/// Marks and lines of the ratios' chart are explained, and its title is of what its axis shows.
#[test]
fn the_chart_of_ratios_explains_itself() {
    let page = |doc: &CompareDoc, language| {
        let side = SideCourse::default();
        let page = comparison_html(CompareSource { doc, courses: [&side, &side], command: "" }, language);
        let chart = page.split("id=\"ratios\"").nth(1).and_then(|rest| rest.split("</figure>").next());
        chart.expect("a chart").to_owned()
    };
    let has = |chart: &str, name: &str| chart.contains(&format!("</svg>{name}</li>"));
    let mut doc = doc(CompareAnswer::Difference);
    let en = page(&doc, Language::English);
    assert!(en.contains("<figcaption>Change from A to B, with 95 % intervals<"), "{en}");
    assert!(en.contains(">B/A 1.250 · 25 % more</text>"), "{en}");
    for (name, is_told) in [
        ("Difference for the worse", true),
        ("Difference for the better", false),
        ("No difference shown", true),
        ("Regression allowed: 10 %", true),
    ] {
        assert_eq!(has(&en, name), is_told, "{name}: {en}");
    }
    assert!(has(&page(&doc, Language::Chinese), "有差异，变差"));
    doc.answer = CompareAnswer::Undecided;
    (doc.metrics[0].verdict, doc.max_regression) = ("undecided".to_owned(), None);
    let en = page(&doc, Language::English);
    assert!(has(&en, "Undecided") && !en.contains("No difference shown") && !en.contains("allowed"), "{en}");
}

/// What is equal is neither more nor less, and what differs never reads as equal.
#[test]
fn equal_values_are_called_so() {
    let check = |ratio: f64, en: &str, zh: &str| {
        let mut doc = doc(CompareAnswer::Difference);
        doc.metrics[0].ratio = Some(Number(ratio));
        let side = SideCourse::default();
        for (language, told) in [(Language::English, en), (Language::Chinese, zh)] {
            let source = CompareSource { doc: &doc, courses: [&side, &side], command: "" };
            let page = comparison_html(source, language);
            assert!(page.contains(&format!("B/A {told}</text>")), "{told}: {page}");
        }
    };
    check(1.0, "1.000 · the same", "1.000 · 相同");
    check(1.000_01, "1.000 · &lt; 0.01 % more", "1.000 · 增加 &lt; 0.01 %");
    check(0.999_99, "1.000 · &lt; 0.01 % less", "1.000 · 减少 &lt; 0.01 %");
    check(0.999_9, "1.000 · 0.01 % less", "1.000 · 减少 0.01 %");
}

/// Where nothing is judged, that and what it takes stand before all values, and only of single runs that they are single.
#[test]
fn what_is_not_judged_comes_before_its_values() {
    let page = |doc: &CompareDoc| {
        let side = SideCourse::default();
        comparison_html(CompareSource { doc, courses: [&side, &side], command: "" }, Language::English)
    };
    let place = |page: &str, text: &str| page.find(text).unwrap_or_else(|| panic!("no `{text}`: {page}"));
    let mut undecided = doc(CompareAnswer::Undecided);
    for side in [&mut undecided.a, &mut undecided.b] {
        side.runs.truncate(1);
    }
    let told = page(&undecided);
    let (values, needed) =
        (place(&told, "<dl class=\"numbers\">"), place(&told, "Yes: 3 of each side at least"));
    assert!(place(&told, "Nothing is judged: these runs") < needed && needed < values, "{told}");
    let told = page(&doc(CompareAnswer::Difference));
    assert!(place(&told, "<dl class=\"numbers\">") < place(&told, "Are more runs needed?"), "{told}");

    let told = page(&doc(CompareAnswer::Undecided));
    assert!(!told.contains("One run a side") && !told.contains("one run a side"), "three are: {told}");
    assert!(
        !told.contains("Yes: 3 of each side") && told.contains("too few samples, more or longer"),
        "{told}"
    );
}

/// Why nothing is decided is told by what stands against it: values that were asked for, or that have no ratio.
#[test]
fn what_stands_against_an_answer_is_told() {
    let check = |of: &dyn Fn(&mut CompareDoc), en: [&str; 2], zh: [&str; 2]| {
        let mut doc = doc(CompareAnswer::Undecided);
        doc.max_regression = None;
        doc.metrics.truncate(2);
        doc.metrics.iter_mut().for_each(|metric| (metric.p_corrected, metric.regression) = (None, None));
        of(&mut doc);
        let side = SideCourse::default();
        for (language, told) in [(Language::English, en), (Language::Chinese, zh)] {
            let page =
                comparison_html(CompareSource { doc: &doc, courses: [&side, &side], command: "" }, language);
            let page = page.replace('\u{a0}', " ");
            let headline =
                page.split("<p class=\"headline").nth(1).and_then(|rest| rest.split("</p>").next());
            assert!(headline.expect("a headline").contains(told[0]), "{told:?}: {page}");
            assert!(page.contains(told[1]), "{told:?}: {page}");
        }
        let text = comparison_text(&doc);
        assert!(en.iter().all(|told| text.contains(told)), "{en:?}: {text}");
    };
    let why = |doc: &mut CompareDoc, whys: [&str; 2]| {
        for (metric, why) in doc.metrics.iter_mut().zip(whys) {
            (metric.judged, metric.verdict, metric.why) = (false, "not_judged".to_owned(), why.to_owned());
        }
    };
    let few = MetricDoc::FEW_ABOVE;
    check(
        &|doc| why(doc, [few, MetricDoc::NOT_ASKED]),
        ["none of the values asked for can be judged", few],
        ["所要求的数值均无法判定", "高于该值的样本不足 10 个"],
    );
    check(
        &|doc| why(doc, [few, few]),
        ["there is no value that could be judged", few],
        ["没有可判定的数值", "高于该值的样本不足 10 个"],
    );
    let no_ratio = |doc: &mut CompareDoc| {
        for metric in &mut doc.metrics {
            (metric.verdict, metric.b, metric.ratio) = ("undecided".to_owned(), None, None);
            (metric.low, metric.high) = (None, None);
        }
    };
    check(
        &no_ratio,
        [
            "no value to be judged has a ratio: each is 0 or unknown in a run",
            "undecided: 0 or unknown in a run",
        ],
        ["要判定的数值都没有比值", "无法判定：在某次运行中为 0 或未知"],
    );
}

/// A line ends in no name of ours, and in no option; a command is code.
#[test]
fn names_and_commands_stay_whole() {
    let mut doc = doc(CompareAnswer::Difference);
    doc.metrics[0].name = "cpu_per_request(generator)".to_owned();
    doc.metrics[1].name = "p99(a step with quite a long name)".to_owned();
    doc.next = vec!["compare 3 with 3: wavetank compare A1,A2,A3 B1,B2,B3".to_owned()];
    let side = SideCourse::default();
    let page =
        comparison_html(CompareSource { doc: &doc, courses: [&side, &side], command: "" }, Language::English);
    assert!(page.contains("<th scope=\"row\"><bdi>cpu_per_request(generator)"), "{page}");
    assert!(page.contains("<th class=\"name\" scope=\"row\"><bdi>p99(a step"), "{page}");
    assert!(page.contains(": <code><bdi>wavetank compare A1,A2,A3 B1,B2,B3</bdi></code>"), "{page}");
}

#[test]
fn every_answer_is_told_in_both_languages() {
    let (en, zh) = (Language::English, Language::Chinese);
    check(
        CompareAnswer::Difference,
        en,
        &["DIFFERENCE", "p99 25 % more (20 % to 30 %)", ", worse</span>", "No, not for what is told above"],
    );
    check(CompareAnswer::Difference, zh, &["有差异", "p99 增加 25 %（20 % 至 30 %）", "不需要"]);
    check(
        CompareAnswer::Regression,
        en,
        &["REGRESSION", "beyond the 10 % allowed", "class=\"verdict fail\""],
    );
    check(CompareAnswer::Regression, zh, &["性能退化", "超过允许的 10 %"]);
    check(CompareAnswer::NoDifference, en, &["NO DIFFERENCE SHOWN", "what would have been seen: p99 5.0 %"]);
    check(CompareAnswer::NoDifference, zh, &["未见差异", "能够发现的最小差异"]);
    check(CompareAnswer::NoRegression, en, &["NO REGRESSION SHOWN", "not excluded of p99"]);
    check(CompareAnswer::NoRegression, zh, &["未见退化", "尚不能排除"]);
    check(CompareAnswer::Undecided, en, &["UNDECIDED", "do not show how much", "the reason stands above"]);
    check(CompareAnswer::Undecided, zh, &["无法判定", "看不出同一侧", "原因见上"]);
}
