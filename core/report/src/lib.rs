//! A run as text, JSON, `JUnit`, HTML, CSV, Markdown, and in `HdrHistogram`'s formats.
//!
//! Every view is a pure function of the stored record, so `wavetank report` prints years later what
//! the run itself printed. No decision is made here: [`compose`] only puts measurements and
//! diagnosis together.

mod calibration;
pub mod chart;
mod command_line;
mod comparison;
mod completeness;
mod compose;
mod counts;
mod cut_short;
mod done_after_load;
mod engine_line;
mod examples;
mod examples_text;
mod explain;
mod explain_command;
mod export;
mod findings_text;
mod fleet;
mod forecast;
mod format;
mod hold;
mod hosts;
mod html;
mod impacts;
mod journeys;
mod json;
mod junit;
mod lag_part;
mod limits;
mod live;
mod live_hosts;
mod load_text;
mod net;
mod next_steps;
mod oneline;
mod progress;
mod run_facts;
mod runs;
mod search_report;
mod section;
mod size;
mod text;
mod text_layout;
mod threshold_state;
mod translate;

pub use calibration::{CalibrationLookup, calibration_margin, calibration_text, overload};
pub use comparison::{
    CompareSource, SideTimeSeries, comparison_html, comparison_junit, comparison_markdown, comparison_text,
};
pub use compose::{Composition, compose};
pub use engine_line::engine_line;
pub use examples::Examples;
pub use explain::{
    CodeGroup, Explanation, codes_page, explain, explain_doc, explain_list, explain_text, explanations,
};
pub use export::{CsvExport, HostRows, IntervalLog, LatencySeries, StepSelector, markdown, percentile_text};
pub use fleet::{agent_lack, lacking_agents};
pub use forecast::{ForecastInput, forecast_doc, forecast_text};
pub use html::{HtmlSource, Language, html};
pub use json::{error_json, json, json_with_comparison};
pub use junit::{error_junit, junit, junit_with_comparison};
pub use live::{LiveSource, live_doc, live_line, live_search};
pub use live_hosts::live_hosts;
pub use load_text::load_doc;
pub use net::{net_html, net_text};
pub use oneline::oneline;
pub use progress::progress;
pub use run_facts::{RunFacts, build_record, requests_outside_load};
pub use runs::{archive_text, run_lines, runs_text};
pub use search_report::{
    knee_contradicts, knee_csv, knee_curve, knee_drift, knee_headline, knee_html, knee_json, knee_junit,
    knee_markdown, knee_queued, knee_text, level_text,
};
pub use size::{SizingInput, size_doc, size_text};
pub use text::text;
