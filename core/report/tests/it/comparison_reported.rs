//! The texts on a comparison's values: marks, limits, ends of intervals, and reasons against an
//! answer.

use crate::support;

use support::compared::doc;
use wavetank_record::{CompareAnswer, CompareDoc, MetricDoc, Number};
use wavetank_report::{
    CompareSource, Language, SideTimeSeries, comparison_html, comparison_markdown, comparison_text,
};
use wavetank_units::Sentence;

/// The key explains the marks and lines of the ratio chart, and its title says what the axis shows.
#[test]
fn the_chart_of_ratios_explains_itself() {
    let page = |doc: &CompareDoc, language| {
        let side = SideTimeSeries::default();
        let page = comparison_html(CompareSource { doc, courses: [&side, &side], command: "" }, language);
        let chart = page.split("id=\"ratios\"").nth(1).and_then(|rest| rest.split("</figure>").next());
        chart.expect("a chart").to_owned()
    };
    let has = |chart: &str, name: &str| chart.contains(&format!("</svg>{name}</li>"));
    let mut doc = doc(CompareAnswer::Difference);
    let en = page(&doc, Language::English);
    assert!(en.contains("<figcaption>Change from A to B, with 95 % intervals<"), "{en}");
    assert!(en.contains(">B/A 1.250 · 25 % higher</text>"), "{en}");
    for (name, is_reported) in [
        ("Difference for the worse", true),
        ("Difference for the better", false),
        ("No difference shown", true),
        ("Regression allowed: 10 %", true),
    ] {
        assert_eq!(has(&en, name), is_reported, "{name}: {en}");
    }
    assert!(has(&page(&doc, Language::Chinese), "有差异，变差"));
    doc.answer = CompareAnswer::Undecided;
    doc.max_regression = None;
    doc.metrics.iter_mut().for_each(|metric| metric.verdict = "undecided".to_owned());
    let en = page(&doc, Language::English);
    assert!(has(&en, "Undecided") && !en.contains("No difference shown") && !en.contains("allowed"), "{en}");
}

/// If there are more values than fit, those with a shown difference are among the listed ones, and
/// the others are counted.
#[test]
fn the_selection_is_reported_before_rows_are_left_out() {
    let mut doc = doc(CompareAnswer::Regression);
    doc.next = vec![Sentence::quoted("run more")];
    let first = doc.metrics[0].clone();
    let of = |name: String, verdict: &str, regression: Option<&str>| MetricDoc {
        name,
        verdict: verdict.to_owned(),
        regression: regression.map(str::to_owned),
        ..first.clone()
    };
    doc.metrics = (0..70).map(|n| of(format!("p50(step{n})"), "no_difference", Some("excluded"))).collect();
    doc.metrics[65] = of("p50(slower)".to_owned(), "difference", Some("shown"));
    doc.metrics[68] = of("p50(other)".to_owned(), "difference", Some("excluded"));
    for printed in [comparison_text(&doc), comparison_markdown(&doc)] {
        assert!(printed.replace('`', "").contains("10 more values: --format json"), "{printed}");
        assert!(printed.contains("run more"), "{printed}");
        // In the headline and in a row.
        assert!(printed.matches("p50(slower)").count() >= 2 && printed.contains("p50(other)"), "{printed}");
        assert!(printed.contains("p50(step57)") && !printed.contains("p50(step58)"), "{printed}");
        // In the stored order, if all fit next to them.
        let place = |name: &str| printed.find(name).unwrap_or_else(|| panic!("{name}: {printed}"));
        assert!(place("p50(step57)") < place("p50(other)"), "{printed}");
    }
    for side in [&mut doc.a, &mut doc.b] {
        side.runs = vec![side.runs[0].clone(); 23];
    }
    assert!(comparison_markdown(&doc).contains(" and 3 more"), "{}", comparison_markdown(&doc));
}

/// An undecided value among others is marked as undecided. The allowed regression is drawn on each
/// value's worse side only.
#[test]
fn each_ratio_has_its_own_mark_and_limit() {
    let page = |doc: &CompareDoc| {
        let side = SideTimeSeries::default();
        let source = CompareSource { doc, courses: [&side, &side], command: "" };
        let page = comparison_html(source, Language::English);
        let chart = page.split("id=\"ratios\"").nth(1).and_then(|rest| rest.split("</figure>").next());
        chart.expect("a chart").to_owned()
    };
    let limits = |chart: &str| -> Vec<f64> {
        let places = chart.split("<line class=\"limit\" x1=\"").skip(1);
        places.filter_map(|rest| rest.split('%').next()?.parse().ok()).collect()
    };
    let mut doc = doc(CompareAnswer::Difference);
    let times = limits(&page(&doc));
    assert!(times.len() == 2 && times.iter().all(|&at| at > 50.0), "less time is no regression: {times:?}");
    doc.metrics[0].better = "more".to_owned();
    let chart = page(&doc);
    assert!(!chart.contains("</svg>Undecided</li>"), "{chart}");
    let [rate, time] = limits(&chart)[..] else { panic!("a limit for each row: {chart}") };
    assert!(rate < 50.0 && time > 50.0, "less of a rate and more of a time are worse: {rate} {time}");
    doc.metrics[0].verdict = "undecided".to_owned();
    let chart = page(&doc);
    for name in ["Undecided", "No difference shown"] {
        assert!(chart.contains(&format!("</svg>{name}</li>")), "{name}: {chart}");
    }
    doc.max_regression = None;
    assert!(limits(&page(&doc)).is_empty(), "none was given");
}

/// Equal values do not read as more or less, and different values never read as equal.
#[test]
fn equal_values_are_called_so() {
    let check = |ratio: f64, en: &str, zh: &str| {
        let mut doc = doc(CompareAnswer::Difference);
        doc.metrics[0].ratio = Some(Number(ratio));
        let side = SideTimeSeries::default();
        for (language, printed) in [(Language::English, en), (Language::Chinese, zh)] {
            let source = CompareSource { doc: &doc, courses: [&side, &side], command: "" };
            let page = comparison_html(source, language);
            assert!(page.contains(&format!("B/A {printed}</text>")), "{printed}: {page}");
        }
    };
    check(1.0, "1.000 · the same", "1.000 · 相同");
    check(1.000_01, "1.000 · &lt; 0.01 % higher", "1.000 · 高 &lt; 0.01 %");
    check(0.999_99, "1.000 · &lt; 0.01 % lower", "1.000 · 低 &lt; 0.01 %");
    check(0.999_9, "1.000 · 0.01 % lower", "1.000 · 低 0.01 %");
}

/// The ends of its interval never read as no difference, or as less than none.
#[test]
fn ends_of_intervals_never_read_as_none() {
    let check = |[low, ratio, high]: [f64; 3], printed: &str| {
        let mut doc = doc(CompareAnswer::Difference);
        let metric = &mut doc.metrics[0];
        (metric.low, metric.ratio, metric.high) =
            (Some(Number(low)), Some(Number(ratio)), Some(Number(high)));
        let text = comparison_text(&doc);
        assert!(text.lines().next().is_some_and(|line| line.contains(printed)), "{printed}: {text}");
    };
    check([0.999_99, 1.000_03, 1.000_04], "p99 < 0.01 % higher (> −0.01 % to < 0.01 %)");
    check([0.999_96, 0.999_97, 1.000_01], "p99 < 0.01 % lower (> −0.01 % to < 0.01 %)");
    check([0.99, 1.000_1, 1.02], "p99 0.01 % higher (−1.0 % to 2.0 %)");
    check([1.0, 1.01, 1.02], "p99 1.0 % higher (0.00 % to 2.0 %)");
}

/// The text on an undecided comparison names the reason: values that were asked for, or values
/// without a ratio.
#[test]
fn objections_to_an_answer_are_reported() {
    let check = |of: &dyn Fn(&mut CompareDoc), en: [&str; 2], zh: [&str; 2]| {
        let mut doc = doc(CompareAnswer::Undecided);
        doc.max_regression = None;
        doc.metrics.truncate(2);
        doc.metrics.iter_mut().for_each(|metric| (metric.p_corrected, metric.regression) = (None, None));
        of(&mut doc);
        let side = SideTimeSeries::default();
        for (language, printed) in [(Language::English, en), (Language::Chinese, zh)] {
            let page =
                comparison_html(CompareSource { doc: &doc, courses: [&side, &side], command: "" }, language);
            let page = page.replace('\u{a0}', " ");
            let headline =
                page.split("<p class=\"headline").nth(1).and_then(|rest| rest.split("</p>").next());
            assert!(headline.expect("a headline").contains(printed[0]), "{printed:?}: {page}");
            assert!(page.contains(printed[1]), "{printed:?}: {page}");
        }
        let text = comparison_text(&doc);
        assert!(en.iter().all(|printed| text.contains(printed)), "{en:?}: {text}");
    };
    let why = |doc: &mut CompareDoc, whys: [&str; 2]| {
        for (metric, why) in doc.metrics.iter_mut().zip(whys) {
            (metric.judged, metric.verdict, metric.why) =
                (false, "not_judged".to_owned(), Sentence::quoted(why));
        }
    };
    let (few, not_asked) = (MetricDoc::FEW_ABOVE, MetricDoc::NOT_ASKED);
    let few = few.as_str();
    check(
        &|doc| why(doc, [few, not_asked.as_str()]),
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
