//! A search as text, JSON, `JUnit`, CSV, Markdown and one HTML file: the answer first, then latency against load.

mod chinese;
mod csv;
mod curve;
mod drift;
mod english;
mod headline;
mod html;
mod html_chart;
mod junit;
mod markdown;
mod page_words;
mod queued;
mod sentences;
mod showed;
mod text;
mod unheld;
mod width;
mod words;

pub use csv::knee_csv;
pub use curve::knee_curve;
pub use drift::{knee_contradicts, knee_drift};
pub use headline::knee_headline;
pub use html::knee_html;
pub use junit::knee_junit;
pub use markdown::knee_markdown;
pub use queued::knee_queued;
pub use text::knee_text;
pub use words::level_text;

use wavetank_record::SearchDoc;

/// The `wavetank.search/1` object with a newline.
pub fn knee_json(doc: &SearchDoc) -> String {
    doc.to_json() + "\n"
}
