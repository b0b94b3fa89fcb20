//! A run as text, JSON, `JUnit`, HTML, CSV, Markdown, and in `HdrHistogram`'s formats.
//!
//! Every view is a pure function of the stored record, so `wavetank report` prints years later what the run
//! itself printed. Nothing here decides anything: [`compose`] only puts together what was measured and what
//! was diagnosed.

mod calibration;
pub mod chart;
mod command_words;
mod comparison;
mod compose;
mod condition;
mod done_later;
mod examples;
mod explain;
mod export;
mod forecast;
mod held;
mod held_text;
mod hosts;
mod hosts_text;
mod html;
mod impacts;
mod impacts_text;
mod journeys;
mod journeys_text;
mod json;
mod junit;
mod knee;
mod known_share;
mod load_text;
mod more;
mod next;
mod page;
mod phrases;
mod progress;
mod runs;
mod scopes_table;
mod size;
mod text;
mod times_table;
mod units;

pub use calibration::{Known, calibration_text, overload, standing};
pub use comparison::{
    CompareSource, SideCourse, comparison_html, comparison_junit, comparison_markdown, comparison_text,
};
pub use compose::{Composition, compose};
pub use examples::Examples;
pub use explain::{
    CodeGroup, Explanation, codes_page, explain, explain_doc, explain_list, explain_text, explanations,
};
pub use export::{CsvExport, HostRows, IntervalLog, StepPick, TimesOf, markdown, percentile_text};
pub use forecast::{Planned, forecast_doc, forecast_text};
pub use html::{HtmlSource, Language, html};
pub use json::{error_json, json, json_beside};
pub use junit::{error_junit, junit, junit_beside};
pub use knee::{
    knee_contradicts, knee_csv, knee_curve, knee_drift, knee_headline, knee_html, knee_json, knee_junit,
    knee_markdown, knee_queued, knee_text, level_text,
};
pub use load_text::load_doc;
pub use progress::progress;
pub use runs::{archive_text, run_lines, runs_text};
pub use size::{Sized, size_doc, size_text};
pub use text::text;
