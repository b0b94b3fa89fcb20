//! A comparison as Markdown, for a pull request.

use std::fmt::Write;

use wavetank_record::{CompareDoc, SideDoc};

use super::headline::{headline, word};
use super::values::{interval, judgement, ratio, value};
use crate::export::{code, sentence, table};

/// Rows of values at most; the others are in JSON.
const ROWS_MAX: usize = 60;

/// The comparison as GitHub-flavoured Markdown. Whatever comes from outside is escaped.
pub fn comparison_markdown(doc: &CompareDoc) -> String {
    let mut text = format!("## {}: {}\n\n", word(doc.answer), sentence(&headline(doc)));
    for (name, side) in [("A", &doc.a), ("B", &doc.b)] {
        let _ = writeln!(text, "- **{name}**: {}", of_side(side));
    }
    if !doc.metrics.is_empty() {
        let rows = doc.metrics.iter().take(ROWS_MAX).map(|metric| {
            let shown = metric.ratio.map(ratio).unwrap_or_default();
            let values = [value(metric, metric.a), value(metric, metric.b)].map(|value| sentence(&value));
            let [a, b] = values;
            vec![code(&metric.name), a, b, shown, interval(metric), sentence(&judgement(metric))]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let _ = write!(text, "\n{}", table(&["", "A", "B", "B/A", "95 % interval", "difference"], 5, &rows));
    }
    for (word, all) in [("Warning", &doc.warnings), ("Note", &doc.notes)] {
        for one in all {
            let _ = write!(text, "\n**{word}:** {}\n", sentence(one));
        }
    }
    text
}

fn of_side(side: &SideDoc) -> String {
    let ids: Vec<String> = side.runs.iter().take(20).map(|run| code(&run.id)).collect();
    let first = side.runs.first().map(|run| format!(" · {} · {}", code(&run.target), sentence(&run.load)));
    format!("{} {}{}", side.runs.len(), ids.join(" "), first.unwrap_or_default())
}
