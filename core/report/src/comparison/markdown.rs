//! A comparison as Markdown, for a pull request.

use std::fmt::Write;

use wavetank_record::{CompareDoc, SideDoc};

use super::headline::{headline, word};
use super::values::{interval, judgement, ratio, selected_metrics, value};
use crate::export::{code, sentence, table};

/// Most ids shown for one side.
const IDS_MAX: usize = 20;

/// The comparison as GitHub-flavoured Markdown. Text from outside is escaped.
pub fn comparison_markdown(doc: &CompareDoc) -> String {
    let mut text = format!("## {}: {}\n\n", word(doc.answer), sentence(&headline(doc)));
    for (name, side) in [("A", &doc.a), ("B", &doc.b)] {
        let _ = writeln!(text, "- **{name}**: {}", of_side(side));
    }
    if !doc.metrics.is_empty() {
        let (rows, left_out) = selected_metrics(doc);
        let rows = rows.into_iter().map(|metric| {
            let shown = metric.ratio.map(ratio).unwrap_or_default();
            let values = [value(metric, metric.a), value(metric, metric.b)].map(|value| sentence(&value));
            let [a, b] = values;
            vec![code(&metric.name), a, b, shown, interval(metric), sentence(&judgement(metric))]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let _ = write!(text, "\n{}", table(&["", "A", "B", "B/A", "95 % interval", "difference"], 5, &rows));
        if left_out > 0 {
            let _ = write!(text, "\n{left_out} more values: `--format json`\n");
        }
    }
    for (word, all) in [("Warning", &doc.warnings), ("Note", &doc.notes), ("Next", &doc.next)] {
        for one in all {
            let _ = write!(text, "\n**{word}:** {}\n", sentence(one));
        }
    }
    text
}

fn of_side(side: &SideDoc) -> String {
    let ids: Vec<String> = side.runs.iter().take(IDS_MAX).map(|run| code(&run.id)).collect();
    let more = side.runs.len().saturating_sub(IDS_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let first = side.runs.first().map(|run| format!(" · {} · {}", code(&run.target), sentence(&run.load)));
    format!("{} {}{more}{}", side.runs.len(), ids.join(" "), first.unwrap_or_default())
}
