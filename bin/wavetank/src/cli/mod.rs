//! The command line: parses arguments to a [`Command`] and runs nothing.
//!
//! clap parses the arguments (`parser` and the `…_args`) with the value parsers of `wavetank-plan`,
//! so that a wrong unit gets the same message here and in an experiment file. `…Flags` are options
//! as typed; `…Args` are what a command gets. Outside the process, only files that options name are
//! read (`files`).

mod agent_args;
mod baseline_args;
mod calibrate_args;
mod check_args;
mod choice;
mod clap_errors;
mod clap_text;
mod command;
mod command_text;
mod compare_args;
mod compare_settings;
mod connection_args;
mod control_args;
mod curl;
mod demo_args;
mod doctor_args;
mod errors;
mod exit;
mod experiment_args;
mod explain_args;
mod files;
mod fleet_agent_args;
mod fleet_args;
mod fleet_manifest_args;
mod fleet_run_args;
mod foreign_flag_table;
mod foreign_flags;
mod install;
mod lab_args;
mod load_args;
mod load_source;
mod metrics_args;
mod net_args;
mod observe_args;
mod output_args;
mod output_formats;
mod override_args;
mod parse_all;
mod parser;
mod report_args;
mod report_options;
mod request_args;
mod run_args;
mod runs_args;
mod schema_args;
mod search_args;
mod search_checks;
mod serve_args;
mod serve_tls_args;
mod short_help;
mod shorthand;
mod size_args;
#[cfg(test)]
mod tests;
mod tls_args;
mod try_args;
mod ui_args;
mod value_parsers;
mod wrong_value;

use std::ffi::OsString;

use wavetank_units::UserError;

pub(crate) use agent_args::AgentArgs;
#[cfg(target_os = "linux")]
pub(crate) use agent_args::{
    AgentAttachArgs, AgentCommand, AgentHelloArgs, AgentServeArgs, AgentSpoolCommand, AgentSpoolDeleteArgs,
    AgentSpoolListArgs, AgentSpoolSendArgs, AgentStopArgs,
};
#[cfg(target_os = "linux")]
pub(crate) use baseline_args::BaselineArgs;
pub(crate) use calibrate_args::{CalibrateArgs, CalibrationTargetArgs};
pub(crate) use check_args::CheckArgs;
pub(crate) use command::Command;
#[cfg(target_os = "linux")]
pub(crate) use command_text::without_values;
pub(crate) use compare_args::CompareArgs;
pub(crate) use compare_settings::{CompareSettings, RUNS_MAX};
pub(crate) use control_args::ControlCommand;
#[cfg(target_os = "linux")]
pub(crate) use control_args::{AttachArgs, StatusArgs};
pub(crate) use demo_args::DemoArgs;
#[cfg(target_os = "linux")]
pub(crate) use doctor_args::CheckHostArgs;
pub(crate) use doctor_args::{DoctorArgs, DoctorCommand};
pub(crate) use exit::ParseExit;
pub(crate) use experiment_args::{ExperimentSource, FileArgs};
pub(crate) use explain_args::ExplainArgs;
#[cfg(target_os = "linux")]
pub(crate) use fleet_agent_args::{
    FleetAgentArgs, FleetBrokerArgs, FleetBrokerCommand, FleetBrokerInitArgs, FleetBrokerServeArgs,
    FleetLogsArgs, FleetSettleArgs, FleetUnitArgs, FleetUpArgs,
};
pub(crate) use fleet_args::FleetArgs;
#[cfg(target_os = "linux")]
pub(crate) use fleet_args::{
    FleetCalibrateArgs, FleetCommand, FleetExecArgs, FleetHostsArgs, FleetTopArgs, HostArgs, SshArgs,
};
#[cfg(target_os = "linux")]
pub(crate) use fleet_manifest_args::FleetManifestArgs;
#[cfg(target_os = "linux")]
pub(crate) use fleet_run_args::FleetRunArgs;
pub(crate) use install::{completions, man_pages};
pub(crate) use lab_args::LabCommand;
#[cfg(target_os = "linux")]
pub(crate) use lab_args::{FaultCommand, LabRunArgs, PoolCommand};
pub(crate) use load_source::LoadSource;
pub(crate) use net_args::NetArgs;
#[cfg(target_os = "linux")]
pub(crate) use net_args::{NetMeasureArgs, NetServeArgs, NetSubcommand};
pub(crate) use observe_args::ObserveArgs;
#[cfg(target_os = "linux")]
pub(crate) use output_args::OutputArgs;
pub(crate) use output_formats::{FileFormat, OutFile, OutputFormat};
use parse_all::Parsed;
pub(crate) use report_args::ReportArgs;
pub(crate) use report_options::ReportOptions;
pub(crate) use run_args::RunArgs;
pub(crate) use runs_args::{PruneArgs, RunFilter, RunStatus, RunsArgs, RunsCommand};
pub(crate) use schema_args::SchemaKind;
pub(crate) use search_args::SearchArgs;
#[cfg(target_os = "linux")]
pub(crate) use search_checks::{check_searchable, no_threshold};
pub(crate) use serve_args::ServeArgs;
#[cfg(target_os = "linux")]
pub(crate) use serve_tls_args::ServeTls;
pub(crate) use size_args::SizeArgs;
pub(crate) use try_args::TryArgs;
pub(crate) use ui_args::UiArgs;
pub(crate) use value_parsers::default_runs_dir;

/// Parses `argv`, which starts with the program's name.
pub(crate) fn parse(argv: Vec<OsString>) -> Result<Command, ParseExit> {
    let json = wants_json(&argv);
    if argv.len() < 2 {
        return Err(ParseExit::Help(short_help::command().render_help().to_string()));
    }
    if let Some(target) = calibrate_args::as_target(&argv) {
        let failed = |error| ParseExit::Error { error, json, out: Vec::new() };
        return target.map(Command::CalibrationTarget).map_err(failed);
    }
    let command_text = command_text::command_text(&argv);
    let typed = shorthand::insert_run_subcommand(argv);
    let out = parse_all::outputs_with_known_suffix(&typed);
    let Parsed { cli, mut errors, wrong_values } = parse_all::parse_all(typed).map_err(ParseExit::Help)?;
    let parsed = match cli {
        Some(cli) => Command::new(cli.command, command_text, wrong_values).map(Some),
        None => wrong_values.none().map(|_| None),
    };
    match parsed {
        Ok(Some(command)) if errors.is_empty() => return Ok(command),
        Ok(_) => {}
        Err(error) => errors.extend(error.one_by_one()),
    }
    let error = UserError::combine(errors).expect("without a command there is an error");
    Err(ParseExit::Error { error, json, out })
}

/// Whether `--format json` appears anywhere. Then all errors are JSON as well, including errors in
/// other arguments.
fn wants_json(argv: &[OsString]) -> bool {
    argv.iter().any(|word| word == "--format=json")
        || argv.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}
