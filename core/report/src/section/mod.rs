//! Parts of a report that all formats show, each made once: [`Section`] has the facts, tables and
//! notes on one subject, and `print_*` gives them the form of a terminal, of Markdown or of a page.
//!
//! A column or a fact has its value, its place on a terminal and its texts in one line of the
//! subject's file. What only a page has, such as a chart, is added in `html`.

mod checks;
mod connections;
mod counts;
mod fleet;
mod held;
mod hooks;
mod hosts;
mod impact_words;
mod impacts;
mod model;
mod outcomes;
mod page_text;
mod print_markdown;
mod print_page;
mod print_terminal;
mod scopes;
mod servers;
mod table;
mod thresholds;
mod times;
mod traffic;
mod value;

pub(crate) use checks::{NamedCheck, checks, checks_by_name};
pub(crate) use connections::{connections, handshakes};
pub(crate) use counts::{counts, rendezvous};
pub(crate) use fleet::fleet;
pub(crate) use held::{held, held_table, is_holding};
pub(crate) use hooks::hooks;
pub(crate) use hosts::{HOSTS_TITLE, hosts, known_role};
pub(crate) use impact_words::ImpactStrings;
pub(crate) use impacts::impacts;
pub(crate) use model::{Fact, Section};
pub(crate) use outcomes::{has_sessions, requests, sessions};
pub(crate) use page_text::PageText;
pub(crate) use print_markdown::markdown;
pub(crate) use print_page::{page_body, page_mark, page_section, page_table};
pub(crate) use print_terminal::add_section;
pub(crate) use scopes::{group_table, phase_table, phases, scenario_table, scenarios, step_table, steps};
pub(crate) use servers::servers;
pub(crate) use thresholds::{threshold_result, threshold_table, thresholds};
pub(crate) use times::{TimedPart, timed_parts, times};
pub(crate) use traffic::traffic;
pub(crate) use value::Value;
