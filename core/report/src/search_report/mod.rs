//! A search as text, JSON, `JUnit`, CSV, Markdown and one HTML file: the answer first, then latency
//! against load.

mod csv;
mod curve;
mod drift;
mod en;
mod failed_runs;
mod format;
mod headline;
mod html;
mod html_chart;
mod interval_width;
mod junit;
mod markdown;
mod observed_levels;
mod page_words;
mod queueing_note;
mod sentences;
mod text;
mod zh;

pub use csv::knee_csv;
pub use curve::knee_curve;
pub use drift::{knee_contradicts, knee_drift};
pub use format::level_text;
pub use headline::knee_headline;
pub use html::knee_html;
pub use junit::knee_junit;
pub use markdown::knee_markdown;
pub use queueing_note::knee_queued;
pub use text::knee_text;

use wavetank_record::SearchDoc;

/// The `wavetank.search/1` object with a newline.
pub fn knee_json(doc: &SearchDoc) -> String {
    doc.to_json() + "\n"
}
