//! All integration tests of this crate in one program, so that one link serves them all.

mod calibration_doc;
mod compare_doc;
mod fleet_lines;
mod forecast_doc;
mod host_line;
mod interval_line;
mod net_doc;
mod plan_doc;
mod plan_package;
mod plan_words;
mod run_record;
mod runs_doc;
mod search_doc;
mod size_doc;
mod support;
mod try_doc;
