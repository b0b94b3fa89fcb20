//! A comparison to show.

use wavetank_record::{CompareAnswer, CompareDoc, ComparedRunDoc, MetricDoc, Number, SideDoc};
use wavetank_units::Sentence;

/// Text from outside that must not escape from its place.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script>\"&\u{202e}";

/// Three runs on each side, and a value of each kind.
pub(crate) fn doc(answer: CompareAnswer) -> CompareDoc {
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
        why: Sentence::quoted(HOSTILE),
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
        warnings: vec![Sentence::quoted(HOSTILE)],
        notes: vec![Sentence::quoted(HOSTILE)],
        next: vec![Sentence::quoted(HOSTILE)],
        ..CompareDoc::default()
    }
}
