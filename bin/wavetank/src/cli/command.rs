//! [`Command`]: what the program is to do.

use std::path::PathBuf;

use clap_complete::Shell;
use wavetank_units::UserError;

use super::agent_args::AgentArgs;
use super::calibrate_args::{CalibrateArgs, CalibrationTargetArgs};
use super::check_args::CheckArgs;
use super::compare_args::CompareArgs;
use super::control_args::ControlCommand;
use super::demo_args::DemoArgs;
use super::doctor_args::DoctorArgs;
use super::errors::Errors;
use super::explain_args::ExplainArgs;
use super::fleet_args::FleetArgs;
use super::lab_args::LabCommand;
use super::net_args::NetArgs;
use super::observe_args::ObserveArgs;
use super::parser::CliCommand;
use super::report_args::ReportArgs;
use super::run_args::RunArgs;
use super::runs_args::RunsArgs;
use super::schema_args::SchemaKind;
use super::search_args::SearchArgs;
use super::serve_args::ServeArgs;
use super::size_args::SizeArgs;
use super::try_args::TryArgs;
use super::ui_args::UiArgs;

/// One command with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    /// `wavetank run URL|FILE` or `wavetank URL|FILE`.
    Run(Box<RunArgs>),
    /// `wavetank search URL|FILE`.
    Search(Box<SearchArgs>),
    /// `wavetank serve`.
    Serve(Box<ServeArgs>),
    /// `wavetank status`, `attach`, `stop`, `set` and `event`.
    Control(ControlCommand),
    /// `wavetank ui`.
    Ui(UiArgs),
    /// `wavetank report RUN`.
    Report(ReportArgs),
    /// `wavetank runs`.
    Runs(Box<RunsArgs>),
    /// `wavetank compare A B`.
    Compare(Box<CompareArgs>),
    /// `wavetank explain`.
    Explain(ExplainArgs),
    /// `wavetank demo`.
    Demo(DemoArgs),
    /// `wavetank new FILE`: the file.
    New(PathBuf),
    /// `wavetank check FILE`.
    Check(Box<CheckArgs>),
    /// `wavetank plan FILE`.
    Plan(Box<CheckArgs>),
    /// `wavetank try FILE`.
    Try(Box<TryArgs>),
    /// `wavetank calibrate`.
    Calibrate(Box<CalibrateArgs>),
    /// The server process of a calibration.
    CalibrationTarget(CalibrationTargetArgs),
    /// `wavetank size [URL|FILE]`.
    Size(Box<SizeArgs>),
    /// `wavetank doctor`.
    Doctor(Box<DoctorArgs>),
    /// `wavetank schema [experiment|lab]`.
    Schema(SchemaKind),
    /// `wavetank fleet`.
    Fleet(Box<FleetArgs>),
    /// `wavetank net`.
    Net(Box<NetArgs>),
    /// `wavetank observe`.
    Observe(Box<ObserveArgs>),
    /// `wavetank agent`.
    Agent(Box<AgentArgs>),
    /// `wavetank lab`.
    Lab(LabCommand),
    /// `wavetank completions SHELL`.
    Completions(Shell),
    /// `wavetank man DIR`: the folder.
    Man(PathBuf),
}

impl Command {
    /// Checks the options and reads the files that they name. `command` is the redacted command
    /// line; `errors` has what is wrong with single values.
    pub(super) fn new(typed: CliCommand, command: String, errors: Errors) -> Result<Self, UserError> {
        let errors = match &typed {
            CliCommand::Run(_)
            | CliCommand::Search(_)
            | CliCommand::Check(_)
            | CliCommand::Plan(_)
            | CliCommand::Lab(_) => errors,
            // Without a wrong value, what is left could be reported for what it is not.
            _ => errors.none()?,
        };
        Ok(match typed {
            CliCommand::Run(flags) => Self::Run(Box::new(flags.resolve(command, errors)?)),
            CliCommand::Search(flags) => Self::Search(Box::new(flags.resolve(command, errors)?)),
            CliCommand::Check(flags) => Self::Check(Box::new(flags.resolve(errors)?)),
            CliCommand::Plan(flags) => Self::Plan(Box::new(flags.resolve(errors)?)),
            CliCommand::Serve(args) => Self::Serve(Box::new(args.read()?)),
            CliCommand::Status(args) => Self::Control(ControlCommand::Status(args)),
            CliCommand::Attach(args) => Self::Control(ControlCommand::Attach(args)),
            CliCommand::Stop(args) => Self::Control(ControlCommand::Stop(args)),
            CliCommand::Set(args) => {
                args.resolve().map(drop).map(|()| Self::Control(ControlCommand::Set(args)))?
            }
            CliCommand::Event(args) => Self::Control(ControlCommand::Event(args)),
            CliCommand::Ui(args) => Self::Ui(args),
            CliCommand::Report(args) => args.check().map(|()| Self::Report(args))?,
            CliCommand::Runs(args) => args.check().map(|()| Self::Runs(args))?,
            CliCommand::Compare(args) => args.check().map(|()| Self::Compare(args))?,
            CliCommand::Explain(args) => Self::Explain(args),
            CliCommand::Demo(args) => Self::Demo(args),
            CliCommand::New(args) => Self::New(args.file),
            CliCommand::Try(flags) => Self::Try(Box::new(flags.resolve(command)?)),
            CliCommand::Calibrate(args) => Self::Calibrate(Box::new(args.checked(command)?)),
            CliCommand::Size(flags) => Self::Size(Box::new(flags.resolve()?)),
            CliCommand::Doctor(flags) => Self::Doctor(Box::new(flags.resolve()?)),
            CliCommand::Fleet(args) => args.check().map(|()| Self::Fleet(args))?,
            CliCommand::Net(args) => Self::Net(Box::new(args.checked(command)?)),
            CliCommand::Observe(args) => Self::Observe(Box::new(args)),
            CliCommand::Agent(args) => Self::Agent(Box::new(args)),
            CliCommand::Lab(flags) => Self::Lab(flags.resolve(command, errors)?),
            CliCommand::Schema(args) => Self::Schema(args.of),
            CliCommand::Completions(args) => Self::Completions(args.shell),
            CliCommand::Man(args) => Self::Man(args.dir),
        })
    }
}
