//! Makes runs and searches: the probe, the load by threads of this process or by agents of a fleet,
//! the controller that watches it, and the record with its verdict.
//!
//! [`execute`] is a run, [`run_search`] and [`calibrate`] are many of them. They print through a
//! [`RunConsole`]. What else they do is in their result, in the archive and on the control socket.
//! [`settle`] adds what agents kept to archives.

mod agent_host;
mod agent_links;
mod agent_run;
mod agent_service;
mod calibration;
mod certificate;
mod console;
mod control_replies;
mod controller;
mod dns_refresh;
mod event_runner;
mod execute;
mod fleet_link;
mod fleet_load;
mod fleet_package;
mod fleet_refusal;
mod fleet_run;
mod hooks;
mod host;
mod host_error;
mod lab_agents;
mod lab_entry;
mod lab_evidence;
mod lab_notes;
mod lab_run;
mod live_metrics;
mod load_host;
mod lookup;
mod memory_growth;
mod planned_lab;
mod prepared_run;
mod probe;
mod reachability;
mod redaction;
mod reflection;
mod remote_agents;
mod remote_hosts;
mod run_control;
mod sample;
mod sampling;
mod search;
mod search_control;
mod server_counts;
mod servers_counted;
mod service_logs;
mod settling;
mod shared_sources;
mod source_addresses;
mod source_check;
mod target_addresses;
mod tls;
mod usage_at_start;

pub use agent_service::{AGENT_SPOOLS, AgentOptions, AgentService, agent_not_started};
pub use calibration::{CalibrationError, CalibrationSetup, CalibrationTarget, TargetCounts, calibrate};
pub use certificate::certificate_lines;
pub use console::RunConsole;
pub use controller::end_doc;
use controller::{FleetResult, LoadResult, LoadSide, RunController};
pub use event_runner::{revert_action, start_action};
pub use execute::{Execution, FinishedRun, execute};
pub use fleet_link::FleetReach;
pub use fleet_load::FleetLoad;
pub use fleet_run::{FleetRun, FleetTolerance};
use hooks::{HookResults, LoadContext, run_load};
pub use host::Host;
pub use host_error::host_error;
pub use lab_agents::agent_folders;
pub use lab_entry::LabEntry;
pub use lab_run::{LabRun, check_host_condition, first_load_host};
pub use live_metrics::{MetricsOutputs, SharedOutputs};
pub use lookup::{check_allowed, lookup, lookup_url};
pub use planned_lab::{PlannedLab, check_supported};
pub use prepared_run::{ExperimentSource, PreparedRun, all_tables};
pub use probe::hint_for_unexpected_answer;
use probe::{ProbeResult, probe};
pub use reflection::reflected;
use run_control::RunControl;
pub use run_control::run_folder;
pub use sample::{SampleStore, note_fault};
use sampling::{LabServer, SamplingConfig};
pub use search::{SearchSettings, SearchedLoad, level_rate, run_search};
pub use search_control::{SearchControl, SearchIdentity};
pub use settling::{
    SPOOL_MARK, SettledRuns, Settlement, SpoolCommand, SpoolDoc, SpoolHosts, SpoolsDoc, settle,
};
pub use source_addresses::{check_sources, chosen_sources, local_source_addresses, source_addresses};
pub use source_check::check_sources_bindable;
pub use target_addresses::TargetAddresses;
pub use tls::tls_client;
