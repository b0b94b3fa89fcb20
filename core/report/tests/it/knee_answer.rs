//! The observations of a search's runs, as distinct from its estimates.

use wavetank_record::{
    Blame, Number, SearchAnswerDoc, SearchDoc, SearchPointDoc, SearchRunDoc, Spread, Threshold,
};
use wavetank_report::{Language, knee_curve, knee_headline, knee_html, knee_markdown, knee_text};
use wavetank_units::Sentence;

/// A search with this result, without a level.
fn found([low, knee, high]: [f64; 3]) -> SearchDoc {
    SearchDoc {
        of: "rate".to_owned(),
        unit: "per_s".to_owned(),
        thresholds: vec!["p95 < 24ms".to_owned()],
        answer: SearchAnswerDoc {
            end: "found".to_owned(),
            low: Some(Number(low)),
            knee: Some(Number(knee)),
            high: Some(Number(high)),
            low_proven: true,
            high_proven: true,
            confidence: Number(0.95),
            blame: Blame::Target,
            ..SearchAnswerDoc::default()
        },
        ..SearchDoc::default()
    }
}

/// A search of a noisy target of 500/s: result and reason of each run, by level.
fn noisy() -> SearchDoc {
    let broke = |value: &str| Sentence::quoted(format!("`p95 < 24ms` broke: {value}"));
    let runs = [
        (100.0, "fail", broke("53.7 ms")),
        (100.0, "pass", Sentence::empty()),
        (100.0, "fail", broke("55.6 ms")),
        (100.0, "pass", Sentence::empty()),
        (100.0, "pass", Sentence::empty()),
        (495.4, "pass", Sentence::empty()),
        (500.4, "pass", Sentence::empty()),
        (500.4, "pass", Sentence::empty()),
        (502.0, "undecided", Sentence::quoted("interrupted")),
        (504.0, "fail", broke("32.9 ms")),
        (504.0, "generator", Sentence::quoted("a load thread was full")),
        (507.7, "fail", broke("48.0 ms")),
        (507.7, "fail", broke("48.0 ms")),
        (800.0, "fail", broke("759 ms")),
    ];
    let run = |(level, result, why): (f64, &str, Sentence)| {
        let level = Number(level);
        let spread = Spread { p95: Number(20_000.0), ..Spread::default() };
        let mut run = SearchRunDoc { level, result: result.to_owned(), why, ..SearchRunDoc::default() };
        run.response_us.spread = Some(spread);
        run
    };
    let runs: Vec<_> = runs.map(run).to_vec();
    let mut doc = found([490.0, 499.6, 507.7]);
    doc.curve = knee_curve(&runs, &[(495.4, 1.0), (500.4, 1.0), (504.0, 0.0), (507.7, 0.0)]);
    doc.runs = runs;
    doc.answer.low_level = Some(Number(495.4));
    doc.answer.limit = broke("32.9 ms");
    doc.answer.headline = knee_headline(&doc);
    doc
}

/// The text on a level says what its runs showed; estimates are called estimates.
#[test]
fn measured_and_estimated_limits_are_distinguished() {
    let doc = noisy();
    let headline = "knee estimated at 499.6/s (490 to 507.7, 95 %) for p95 < 24ms: 2 of 2 runs passed at 500.4/s, 0 of 4 from 504/s up";
    assert_eq!(doc.answer.headline, headline);
    let text = knee_text(&doc);
    let row = |level: &str| text.lines().find(|line| line.trim_start().starts_with(level)).expect("its row");
    let check = |level: &str, place: &str| assert!(row(level).ends_with(place), "{level}: {}", row(level));
    check("495.4/s", "lower end of the interval, before subtracting what may have queued");
    check("500.4/s", "every run passed, and most runs at each lower level");
    check("504/s", "no run passed from here up");
    check("507.7/s", "upper end of the interval");
    check("800/s", "0 ns");
    let listed = [
        "limit      target: `p95 < 24ms` broke: 32.9 ms (in a run at 504/s)\n",
        "  100/s: 2 of 5 failed: `p95 < 24ms` broke: 53.7 ms; `p95 < 24ms` broke: 55.6 ms\n",
        "  502/s: 1 run not counted, without a result: interrupted\n",
        "  504/s: 1 run not counted, invalidated by the generator: a load thread was full\n",
    ];
    for line in listed {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains("1 of 1 failed") && !text.contains("507.7/s: "), "{text}");
    let markdown = knee_markdown(&doc);
    assert!(markdown.contains("- 100/s: 2 of 5 failed: "), "{markdown}");
    assert!(markdown.contains("(in a run at 504/s)"), "{markdown}");
    let page = knee_html(&doc, Language::English);
    let card = |name: &str, level: &str, below: &str| {
        let card =
            format!("<dt>{name}</dt><dd class=\"number\">{level}</dd><dd class=\"below\">{below}</dd>");
        assert!(page.contains(&card), "{card}: {page}");
    };
    let lower = "lower end of the 95\u{a0}% interval: 495.4/s passed, minus requests that may have queued";
    card("Knee at least", "490/s", lower);
    card("Knee", "499.6/s", "estimate, minus requests that may have queued");
    card("Knee at most", "507.7/s", "upper end of the 95\u{a0}% interval");
    assert!(page.contains("broke: 32.9\u{a0}ms (in a run at 504/s)"), "{page}");
    let chinese = knee_html(&doc, Language::Chinese);
    assert!(chinese.contains("未满足：实测 32.9\u{a0}ms（在 504/s 的一次运行中）"), "{chinese}");
    assert!(
        chinese.contains("100/s：5 次中有 2 次不成立：<code class=\"option\">p95 &lt; 24ms</code> 未满足"),
        "{chinese}"
    );
}

/// A level with mixed results counts as neither. If all levels are mixed, the runs are counted.
#[test]
fn what_runs_showed_is_counted() {
    let check = |levels: &[(f64, u32)], showed: &str| {
        let mut doc = found([100.0, 200.0, 300.0]);
        let point = |&(level, passed): &(f64, u32)| SearchPointDoc {
            level: Number(level),
            runs: 3,
            passed,
            ..SearchPointDoc::default()
        };
        doc.curve = levels.iter().map(point).collect();
        let headline = knee_headline(&doc);
        assert!(headline.ends_with(&format!(" for p95 < 24ms: {showed}")), "{headline}");
    };
    check(
        &[(100.0, 2), (200.0, 3), (250.0, 1), (300.0, 0)],
        "3 of 3 runs passed at 200/s, 0 of 3 from 300/s up",
    );
    // A level that passed above a failed one does not count as passing.
    check(
        &[(100.0, 3), (200.0, 1), (250.0, 3), (300.0, 0)],
        "3 of 3 runs passed at 100/s, 0 of 3 from 300/s up",
    );
    check(&[(100.0, 0), (200.0, 3), (250.0, 1), (300.0, 0)], "0 of 3 runs passed from 300/s up");
    check(&[(100.0, 3), (200.0, 0), (250.0, 1)], "3 of 3 runs passed at 100/s");
    check(&[(100.0, 2), (200.0, 0), (250.0, 0)], "0 of 6 runs passed from 200/s up");
    check(&[(100.0, 2), (200.0, 0), (250.0, 1)], "3 of 9 runs passed");
}

const KNEE_CARD: &str = "<dt>Knee</dt><dd class=\"number\">";

/// A bound is not a knee, and if nothing passed there is no knee.
#[test]
fn a_bound_is_not_called_a_knee() {
    let page = |end: &str, [low, knee, high]: [Option<f64>; 3]| {
        let mut doc = noisy();
        end.clone_into(&mut doc.answer.end);
        (doc.answer.low, doc.answer.knee) = (low.map(Number), knee.map(Number));
        doc.answer.high = high.map(Number);
        knee_html(&doc, Language::English)
    };
    for end in ["above", "generator"] {
        let page = page(end, [Some(500.4), Some(500.4), None]);
        assert!(page.contains("<dt>Passes at least up to</dt>") && !page.contains(KNEE_CARD), "{page}");
    }
    let below = page("below", [None, None, Some(507.7)]);
    let card = "<dt>No run passed from</dt><dd class=\"number\">504/s</dd><dd class=\"below\">0 of 4</dd>";
    assert!(below.contains(card) && !below.contains(KNEE_CARD), "{below}");
}

/// Runs are also judged by implicit thresholds, and readers of the page must see which.
#[test]
fn implicit_conditions_are_reported() {
    let mut doc = noisy();
    let added = |expr: &str| Threshold { expr: expr.to_owned(), implicit: true, ..Threshold::default() };
    for run in &mut doc.runs {
        run.thresholds = vec![added("done > 0"), added("queue growth < 0.5%")];
    }
    let listed = "implicit, added by Wavetank: <code class=\"option\"><bdi>done &gt; 0</bdi></code>, \
                <code class=\"option\"><bdi>queue growth &lt; 0.5%</bdi></code></p>";
    assert_eq!(knee_html(&doc, Language::English).matches(listed).count(), 1);
    assert!(!knee_html(&noisy(), Language::English).contains("implicit"));
}

/// The chart has the threshold as a limit. Levels near the knee are in a chart of their own, each
/// level in one chart only.
#[test]
fn the_chart_has_the_limit_and_distinguishes_levels() {
    let page = knee_html(&noisy(), Language::English);
    assert_eq!(page.matches("<line class=\"limit\"").count(), 2, "{page}");
    assert!(page.contains("</svg>p95 &lt; 24ms</li>"), "{page}");
    let (all, near) = page.split_once("near the knee").expect("two charts");
    for (level, is_near) in [("100/s", false), ("495.4/s", true), ("504/s", true), ("800/s", false)] {
        let point = format!("<title>p95 · {level} · 20.0 ms</title>");
        assert_eq!((all.contains(&point), near.contains(&point)), (!is_near, is_near), "{level}: {page}");
    }
    assert!(page.contains("Knee: 499.6/s, between 490/s and 507.7/s."), "{page}");
    // This text precedes the second chart.
    assert!(all.contains("Levels from 495.4/s to 507.7/s are shown in the next chart"), "{page}");
    // If all levels are near the knee, one chart shows them closely. A percentile that is not drawn
    // has no limit line.
    let mut other = found([490.0, 499.6, 507.7]);
    other.curve = noisy().curve.into_iter().filter(|point| point.chance.is_some()).collect();
    for (threshold, limits) in [
        ("p50 < 50ms", 1),
        ("p99.9 < 50ms", 0),
        ("p99(buy) < 50ms", 0),
        ("service p99 < 50ms", 0),
        ("failed < 1%", 0),
    ] {
        other.thresholds = vec![threshold.to_owned()];
        let page = knee_html(&other, Language::English);
        assert_eq!(page.matches("<line class=\"limit\"").count(), limits, "{threshold}");
        assert!(!page.contains("near the knee") && page.contains(">495/s</text>"), "{page}");
        assert!(!page.contains("next chart"), "there is none: {page}");
    }
}

/// The key names the marked interval, and calls it 95 % only if it is proven.
#[test]
fn the_chart_names_its_interval() {
    let mut doc = noisy();
    let key = |doc: &SearchDoc, name: &str| {
        let page = knee_html(doc, Language::English);
        assert_eq!(page.matches(&format!("</svg>{name}</li>")).count(), 2, "{name}: {page}");
    };
    key(&doc, "Knee and its 95 % interval");
    doc.answer.high_proven = false;
    key(&doc, "Knee and the interval so far, not proven");
    assert!(knee_html(&doc, Language::Chinese).contains("</svg>拐点及目前的区间（尚未证实）</li>"));
}

/// However wide the interval is, only overlapping levels have a chart of their own.
#[test]
fn levels_upon_each_other_have_a_chart_of_their_own() {
    let check = |low: f64, levels: &[f64], near: &[f64]| {
        let mut doc = found([low, 471.3, 500.4]);
        let point = |&level: &f64| SearchPointDoc {
            level: Number(level),
            runs: 3,
            chance: Some(Number(0.5)),
            p95_us: Some(Number(20_000.0)),
            ..SearchPointDoc::default()
        };
        doc.curve = levels.iter().map(point).collect();
        let page = knee_html(&doc, Language::English);
        let (_, close) = page.split_once("near the knee").unwrap_or((&page, ""));
        for level in levels {
            let is_near = close.contains(&format!("<title>p95 · {level}/s · 20.0 ms</title>"));
            assert_eq!(is_near, near.contains(level), "{level}: {page}");
        }
        let said = format!("Knee: 471.3/s, between {low}/s and 500.4/s.");
        assert!(close.is_empty() || close.contains(&said), "{close}");
    };
    let crowd = [475.7, 480.8, 490.5, 495.4, 500.4, 504.0, 507.7];
    let all: Vec<_> = [100.0, 200.0, 264.6, 363.8].into_iter().chain(crowd).chain([800.0]).collect();
    check(263.1, &all, &crowd);
    check(470.0, &all, &crowd);
    check(200.0, &[100.0, 200.0, 400.0, 500.4, 800.0], &[]);
    check(200.0, &[100.0, 490.5, 500.4, 800.0], &[]);
}

/// The causes of the interval's width.
#[test]
fn the_width_of_an_interval_is_explained() {
    let mut doc = noisy();
    let page = |doc: &SearchDoc, language| knee_html(doc, language);
    let apart = "so the levels that prove the two ends are 3 levels apart. Its part below 495.4/s allows for requests that may have been queueing in runs at that level.</p>";
    assert!(page(&doc, Language::English).contains(apart), "{}", page(&doc, Language::English));
    assert!(
        page(&doc, Language::Chinese).contains("因此证实两端的负载水平相隔 3 级。其中低于 495.4/s 的部分")
    );
    let one = doc.curve.iter_mut().find(|point| point.level == Number(500.4)).expect("a level");
    (one.runs, one.passed) = (3, 2);
    let listed = page(&doc, Language::English);
    assert!(
        listed
            .contains("Runs within the interval disagree (2 of 3 passed at 500.4/s), which makes it wider."),
        "{listed}"
    );
    assert!(
        listed.contains("(<code class=\"option\">--repeats</code>) usually make it narrower"),
        "{listed}"
    );
    assert!(page(&doc, Language::Chinese).contains("（500.4/s 的 3 次中成立 2 次）"));
    doc.answer.low_proven = false;
    let listed = page(&doc, Language::English);
    assert!(!listed.contains("within the interval") && listed.contains("not proven"), "{listed}");
}

/// A list is named after its entries, sentences start with a capital, and terms are explained.
#[test]
fn a_page_of_a_search_reads_like_that_of_a_run() {
    let mut doc = noisy();
    doc.notes = vec![
        Sentence::quoted("part of the load queued"),
        Sentence::quoted("500/s passed, but 2 % of it queued"),
    ];
    let page = knee_html(&doc, Language::English);
    assert!(page.contains("Runs that contradict others or do not count</h2>"), "{page}");
    assert!(page.contains("<p class=\"headline sentence\">knee estimated"), "{page}");
    let notes = ["<li class=\"sentence\">part of the load", "<li class=\"\">500/s passed"];
    assert!(notes.iter().all(|note| page.contains(note)), "{page}");
    assert!(page.contains("<dt>Knee</dt><dd>The load at which"), "{page}");
    assert!(page.contains("<dt>95 % interval</dt>") && !page.contains("<dt>Session</dt>"), "{page}");
    for text in [knee_text(&doc), knee_markdown(&doc)] {
        assert!(text.contains("uns that contradict others or do not count"), "{text}");
    }
    let chinese = knee_html(&doc, Language::Chinese);
    assert!(chinese.contains("<dt>拐点</dt>") && chinese.contains("<p class=\"headline\">"), "{chinese}");
}
