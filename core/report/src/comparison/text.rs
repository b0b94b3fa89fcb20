//! A comparison as text: the answer, the sides, a row for each value, and warnings.

use wavetank_record::{CompareDoc, MetricDoc, SideDoc};

use super::headline::{headline, word};
use super::values::{interval, judgement, ratio, selected_metrics, value};
use crate::text_layout::{COLUMNS_MAX, TextLayout, pad, pad_left, width};

/// Columns of names, values, the ratio and its interval; the judgement has the rest.
const NAME_COLUMNS: usize = 20;
const VALUE_COLUMNS: usize = 10;
const RATIO_COLUMNS: usize = 8;
const INTERVAL_COLUMNS: usize = 18;
/// Most ids shown for one side.
const IDS_MAX: usize = 8;

/// The comparison as text of at most 100 columns, ending in a newline.
pub fn comparison_text(doc: &CompareDoc) -> String {
    let mut page = TextLayout::default();
    page.head(word(doc.answer), &headline(doc), &[]);
    page.parts("A", &side(&doc.a));
    page.parts("B", &side(&doc.b));
    for warning in &doc.warnings {
        page.sentence("warning", warning);
    }
    if !doc.metrics.is_empty() {
        let cells = [("A", VALUE_COLUMNS), ("B", VALUE_COLUMNS), ("B/A", RATIO_COLUMNS)];
        let cells = cells.map(|(word, columns)| pad_left(word, columns)).concat();
        let heading = pad_left("95 % interval", INTERVAL_COLUMNS);
        page.line(&format!("{}{cells}{heading}  difference", pad("", NAME_COLUMNS)));
    }
    let (rows, left_out) = selected_metrics(doc);
    for metric in rows {
        row(&mut page, metric);
    }
    if left_out > 0 {
        page.line(&format!("{left_out} more values: --format json"));
    }
    for note in &doc.notes {
        page.sentence("note", note);
    }
    for next in &doc.next {
        page.sentence("next", next);
    }
    page.into_text()
}

fn side(side: &SideDoc) -> Vec<String> {
    let ids = side.runs.iter().take(IDS_MAX).map(|run| run.id.as_str()).collect::<Vec<_>>().join(" ");
    let more = side.runs.len().saturating_sub(IDS_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let runs = match side.runs.len() {
        1 => "1 run".to_owned(),
        n => format!("{n} runs"),
    };
    let first = side.runs.first();
    let of =
        |part: fn(&wavetank_record::ComparedRunDoc) -> &String| first.map(part).cloned().unwrap_or_default();
    vec![runs, format!("{ids}{more}"), of(|run| &run.target), of(|run| &run.load)]
}

fn row(page: &mut TextLayout, metric: &MetricDoc) {
    let shown = metric.ratio.map(ratio).unwrap_or_default();
    let mut cells = [
        pad_left(&value(metric, metric.a), VALUE_COLUMNS),
        pad_left(&value(metric, metric.b), VALUE_COLUMNS),
        pad_left(&shown, RATIO_COLUMNS),
        pad_left(&interval(metric), INTERVAL_COLUMNS),
    ]
    .concat();
    let room = COLUMNS_MAX - NAME_COLUMNS - width(&cells) - 2;
    let said = judgement(metric);
    if width(&metric.name) > NAME_COLUMNS - 1 {
        page.line(&metric.name);
    }
    let name = if width(&metric.name) > NAME_COLUMNS - 1 { "" } else { &metric.name };
    if width(&said) <= room {
        cells = format!("{cells}  {said}");
        page.line(&(pad(name, NAME_COLUMNS) + &cells));
    } else {
        page.line(&(pad(name, NAME_COLUMNS) + &cells));
        page.line(&format!("{}{said}", pad("", NAME_COLUMNS)));
    }
}
