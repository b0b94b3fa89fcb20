//! Parts of a run that several commands share.

#[cfg(target_os = "linux")]
mod agent_host;
#[cfg(target_os = "linux")]
mod agent_run;
#[cfg(target_os = "linux")]
mod certificate;
#[cfg(target_os = "linux")]
mod console;
#[cfg(target_os = "linux")]
mod control_replies;
#[cfg(target_os = "linux")]
mod controller;
#[cfg(target_os = "linux")]
mod dns_refresh;
#[cfg(target_os = "linux")]
mod event_runner;
#[cfg(target_os = "linux")]
mod execute;
#[cfg(target_os = "linux")]
mod fleet_link;
#[cfg(target_os = "linux")]
mod fleet_package;
#[cfg(target_os = "linux")]
mod fleet_refusal;
#[cfg(target_os = "linux")]
mod fleet_run;
mod gap_warning;
#[cfg(target_os = "linux")]
mod hooks;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod host_error;
mod host_rows;
mod html_page;
mod judge;
#[cfg(target_os = "linux")]
mod lab_agents;
#[cfg(target_os = "linux")]
mod lab_evidence;
mod lab_notes;
#[cfg(target_os = "linux")]
mod lab_run;
#[cfg(target_os = "linux")]
mod live_metrics;
#[cfg(target_os = "linux")]
mod load_host;
#[cfg(target_os = "linux")]
mod lookup;
#[cfg(target_os = "linux")]
mod memory_growth;
pub(crate) mod out_file;
pub(crate) mod output;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod reachability;
mod redaction;
#[cfg(target_os = "linux")]
mod remote_agents;
mod remote_hosts;
pub(crate) mod result_writer;
#[cfg(target_os = "linux")]
mod run_control;
#[cfg(target_os = "linux")]
mod sample;
#[cfg(target_os = "linux")]
mod sampling;
#[cfg(target_os = "linux")]
mod search_control;
#[cfg(target_os = "linux")]
mod server_counts;
#[cfg(target_os = "linux")]
mod servers_counted;
mod service_logs;
mod shared_sources;
#[cfg(target_os = "linux")]
mod source_check;
#[cfg(target_os = "linux")]
mod tls;
#[cfg(target_os = "linux")]
mod usage_at_start;
mod write_error;

#[cfg(target_os = "linux")]
pub(crate) use agent_run::AgentRun;
#[cfg(target_os = "linux")]
pub(crate) use certificate::certificate_lines;
#[cfg(target_os = "linux")]
pub(crate) use console::{Console, engine_line};
#[cfg(target_os = "linux")]
pub(crate) use controller::{FleetResult, LoadResult, LoadSide, RunController, end_doc};
#[cfg(target_os = "linux")]
pub(crate) use event_runner::{revert_action, start_action};
#[cfg(target_os = "linux")]
pub(crate) use execute::{Execution, FinishedRun, execute};
#[cfg(target_os = "linux")]
pub(crate) use fleet_link::FleetReach;
#[cfg(target_os = "linux")]
pub(crate) use fleet_run::{FleetLoad, FleetRun, FleetTolerance};
#[cfg(target_os = "linux")]
pub(crate) use hooks::{HookResults, LoadContext, run_load};
#[cfg(target_os = "linux")]
pub(crate) use host::Host;
#[cfg(target_os = "linux")]
pub(crate) use host_error::host_error;
pub(crate) use judge::{RunFacts, build_record};
#[cfg(target_os = "linux")]
pub(crate) use lab_agents::agent_folders;
#[cfg(target_os = "linux")]
pub(crate) use lab_run::{LabRun, check_host_condition, first_load_host};
#[cfg(target_os = "linux")]
pub(crate) use live_metrics::{MetricsOutputs, SharedOutputs};
#[cfg(target_os = "linux")]
pub(crate) use lookup::{check_allowed, lookup};
#[cfg(target_os = "linux")]
pub(crate) use probe::{ProbeResult, hint_for_unexpected_answer, is_safe, probe};
#[cfg(target_os = "linux")]
pub(crate) use run_control::{RunControl, run_folder};
#[cfg(target_os = "linux")]
pub(crate) use sample::{SampleStore, note_fault};
#[cfg(target_os = "linux")]
pub(crate) use sampling::{LabServer, SamplingConfig, check_target_counts_available};
#[cfg(target_os = "linux")]
pub(crate) use search_control::{SearchControl, SearchIdentity};
#[cfg(target_os = "linux")]
pub(crate) use source_check::check_sources_bindable;
#[cfg(target_os = "linux")]
pub(crate) use tls::tls_client;
