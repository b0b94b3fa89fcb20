//! A stored run or search with any numbers that JSON can write: either it is refused with one line,
//! or every view can be made.

use crate::support;

use serde_json::Value;
use wavetank_record::{DecodeError, RunRecord, SearchDoc};
use wavetank_report::{
    HtmlSource, Language, html, json, junit, knee_contradicts, knee_csv, knee_curve, knee_drift,
    knee_headline, knee_html, knee_junit, knee_markdown, knee_queued, knee_text, markdown, text,
};

/// Replacements of numbers: the ends of every kind of number, and values just within the accepted
/// range.
const HOSTILE: [&str; 8] = [
    "18446744073709551615",
    "-9223372036854775808",
    "9007199254740992",
    "8589934592",
    "-1",
    "0",
    "1e308",
    "-1e308",
];

/// Calls `each` for every number of `value`, in order.
fn numbers(value: &mut Value, each: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Number(_) => each(value),
        Value::Array(values) => values.iter_mut().for_each(|value| numbers(value, each)),
        Value::Object(fields) => fields.values_mut().for_each(|value| numbers(value, each)),
        _ => {}
    }
}

/// Reads and shows the object with each of its numbers replaced, and with all of them replaced.
/// Returns how many variants were refused, and how many were shown.
fn check<T>(
    text: &str,
    read: impl Fn(&str) -> Result<T, DecodeError>,
    show: impl Fn(usize, &T),
) -> [usize; 2] {
    let whole: Value = serde_json::from_str(text).expect("a golden is JSON");
    let mut count = 0;
    numbers(&mut whole.clone(), &mut |_| count += 1);
    let mut seen = [0, 0];
    for hostile in HOSTILE {
        let hostile: Value = serde_json::from_str(hostile).expect("a number");
        for place in (0..count).map(Some).chain([None]) {
            let (mut changed, mut at) = (whole.clone(), 0);
            numbers(&mut changed, &mut |number| {
                if place.is_none_or(|place| place == at) {
                    *number = hostile.clone();
                }
                at += 1;
            });
            match read(&changed.to_string()) {
                Ok(doc) => {
                    show(seen[1], &doc);
                    seen[1] += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    seen[0] += 1;
                }
            }
        }
    }
    seen
}

fn show_run(number: usize, record: &RunRecord) {
    for view in [text(record), json(record), junit(record), markdown(record)] {
        assert!(!view.is_empty());
    }
    // The page is the largest of all views, so only one in six is made, in one language.
    let language = match number % 6 {
        0 => Language::English,
        3 => Language::Chinese,
        _ => return,
    };
    let source = HtmlSource::of_record(record);
    assert!(!html(source, language).is_empty());
}

fn show_search(_: usize, doc: &SearchDoc) {
    let drift = knee_drift(&doc.of, &doc.runs, &doc.curve);
    assert!(drift.len() <= 1 && knee_curve(&doc.runs, &[]).len() <= doc.runs.len());
    let _ = (knee_queued(doc), knee_contradicts(&doc.curve));
    let [english, chinese] = [Language::English, Language::Chinese].map(|language| knee_html(doc, language));
    for view in [
        knee_headline(doc),
        knee_text(doc),
        knee_csv(doc),
        knee_junit(doc),
        knee_markdown(doc),
        english,
        chinese,
    ] {
        assert!(!view.is_empty());
    }
}

#[test]
fn a_run_of_any_numbers_is_refused_or_shown() {
    let golden = include_str!("../../../record/tests/golden/run.json");
    let [refused, shown] = check(golden, RunRecord::from_json, show_run);
    assert!(refused > 500 && shown > 500, "{refused} refused, {shown} shown");
    let held = support::held().to_json();
    let [refused, shown] = check(&held, RunRecord::from_json, show_run);
    assert!(refused > 50 && shown > 50, "{refused} refused, {shown} shown");
}

#[test]
fn a_search_of_any_numbers_is_refused_or_shown() {
    let golden = include_str!("../../../record/tests/golden/search.json");
    let [refused, shown] = check(golden, SearchDoc::from_json, show_search);
    assert!(refused > 50 && shown > 50, "{refused} refused, {shown} shown");
}
