//! Experiments: a file or a URL becomes an [`Experiment`], and that becomes a plan.
//!
//! [`read`] takes the file's bytes, the variables set on the command line, and functions that know
//! the environment and the names of secrets; it opens nothing itself. All errors are reported
//! together, each with its position and a hint. The result keeps the user's names; lowering to a
//! plan turns them into numbers.

mod doc_page;
mod explicit_settings;
mod factor;
mod from_url;
mod grammar;
mod input;
mod lower;
mod model;
mod option_conflicts;
mod other_formats;
mod overrides;
mod parse;
mod parse_input;
mod placeless;
mod rehearsal;
mod request_rules;
mod run_name;
mod schema;
mod search_level;
mod starter;
mod url_run;
mod validate;
mod walk;

pub use doc_page::page;
pub use factor::Factor;
pub use from_url::{ROWS, UrlBody, UrlPart, UrlRequest, has_template, read_url};
pub use input::{Parsed, read};
pub use lower::{LowerContext, LowerError, LoweredPlan, lower, rows_table, verify_grpc, verify_traces};
pub use model::*;
pub use option_conflicts::{EXCLUSIVE, Exclusive, NEEDS, check_conflicts};
pub use parse_input::ParseInput;
pub use schema::schema;
pub use search_level::Level;
pub use starter::starter;
pub use url_run::{UrlPlan, connect_addresses, plan_url};
pub use validate::{DataFacts, verify_data};
