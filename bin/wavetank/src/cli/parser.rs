//! [`Cli`]: the command line as clap parses it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::agent_args::AgentArgs;
use super::calibrate_args::CalibrateArgs;
use super::check_args::CheckFlags;
use super::choice::Choice;
use super::compare_args::CompareArgs;
use super::control_args::{AttachArgs, EventArgs, SetArgs, StatusArgs, StopArgs};
use super::demo_args::DemoArgs;
use super::doctor_args::DoctorFlags;
use super::explain_args::ExplainArgs;
use super::fleet_args::FleetArgs;
use super::lab_args::LabFlags;
use super::net_args::NetArgs;
use super::observe_args::ObserveArgs;
use super::report_args::ReportArgs;
use super::run_args::RunFlags;
use super::runs_args::RunsArgs;
use super::schema_args::SchemaArgs;
use super::search_args::SearchFlags;
use super::serve_args::ServeArgs;
use super::size_args::SizeFlags;
use super::try_args::TryFlags;
use super::ui_args::UiArgs;

/// Shells with completions.
const SHELLS: Choice<Shell> =
    Choice::new(&[("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish)]);

/// Commands grouped by purpose, written by hand because clap cannot group them. A test compares the
/// list with the commands.
const HELP: &str = "\
{about-with-newline}
{usage-heading} {usage}

Load
  run     Run a load test from a URL or an experiment file; `wavetank URL|FILE` is short for it
  search  Find the highest load that still meets the thresholds
Write
  new     Write a commented example experiment file
  check   Check an experiment file for errors
  plan    Show the load an experiment file describes and the resources it needs on this host
  try     Run one virtual user once and show every request, response, extraction and check
  schema  Print the JSON Schema of the file formats, for editors
Running runs
  status  Show the running runs of this user
  attach  Watch a running run; its report follows when it is over
  stop    Stop a running run, which then reports
  set     Change the rate, the users or the held connections of a running run
  event   Mark the time in a running run
  ui      Serve a web page that shows, starts, changes, stops and compares runs
Results
  report   Show a finished run again
  compare  Compare two runs or two groups of runs, with confidence intervals
  runs     List, show, prune and pack stored runs
  explain  Explain an error code, exit code or report term
Hosts
  calibrate  Measure how much load this host can generate; `plan` uses the result
  net        Measure the network between hosts: throughput, round trips, connections, UDP, MTU
  size       Estimate the hosts, addresses, ports, memory and kernel limits a load needs
  observe    Print samples of a host as JSON lines: CPUs, memory, sockets, counters of its kernel
  doctor     Check and change kernel settings and limits of hosts; judge configuration files
Fleet
  fleet  Run commands and agents on many hosts over ssh, and watch their CPUs and networks
  agent  Serve a load host as an agent of a fleet; `fleet up` starts it
Lab
  lab  Create and run a test cluster of network namespaces on this machine
Practise
  serve   Start the built-in test server
  demo    Run two short tests against the built-in server and show what a freeze does
Install
  completions  Print shell completions
  man          Write manual pages to a directory

Options
{options}

Try:  wavetank run localhost:8080/ -c 50 -d 10s
      wavetank run localhost:8080/ -r 2k/s -d 30s --threshold 'p99 < 250ms'
      wavetank new shop.yaml; wavetank run shop.yaml --scale 1/10
      wavetank run --help";

/// Build, drive and explain load on web clusters.
#[derive(Debug, Parser)]
#[command(name = "wavetank", bin_name = "wavetank", version, help_template = HELP, arg_required_else_help = false)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: CliCommand,
}

/// One command.
#[derive(Debug, Subcommand)]
pub(super) enum CliCommand {
    /// Run a load test from a URL or an experiment file and report the result.
    Run(Box<RunFlags>),
    /// Find the highest load that still meets the thresholds.
    Search(Box<SearchFlags>),
    /// Write a commented example experiment file.
    New(NewArgs),
    /// Check an experiment file for errors.
    Check(Box<CheckFlags>),
    /// Show the load an experiment file describes and the resources it needs on this host.
    Plan(Box<CheckFlags>),
    /// Run one virtual user once and show every request, response, extraction and check.
    Try(Box<TryFlags>),
    /// Print the JSON Schema of the file formats, for editors.
    Schema(SchemaArgs),
    /// Start the built-in test server.
    Serve(Box<ServeArgs>),
    /// Estimate the hosts, addresses, ports, memory and kernel limits a load needs.
    Size(Box<SizeFlags>),
    /// Compare two runs or two groups of runs, with confidence intervals.
    Compare(Box<CompareArgs>),
    /// Show the running runs of this user.
    Status(StatusArgs),
    /// Watch a running run; its report follows when it is over.
    Attach(AttachArgs),
    /// Stop a running run, which then reports.
    Stop(StopArgs),
    /// Change the rate, the users or the held connections of a running run.
    Set(SetArgs),
    /// Mark the time in a running run.
    Event(EventArgs),
    /// Serve a web page that shows, starts, changes, stops and compares runs.
    Ui(UiArgs),
    /// Show a finished run again.
    Report(ReportArgs),
    /// List, show, prune and pack stored runs.
    Runs(Box<RunsArgs>),
    /// Explain an error code, exit code or report term.
    Explain(ExplainArgs),
    /// Run two short tests against the built-in server and show what a freeze does.
    Demo(DemoArgs),
    /// Measure how much load this host can generate; `plan` uses the result.
    Calibrate(Box<CalibrateArgs>),
    /// Check and change kernel settings and limits of hosts; judge configuration files.
    Doctor(Box<DoctorFlags>),
    /// Run commands and agents on many hosts over ssh, and watch their CPUs and networks.
    Fleet(Box<FleetArgs>),
    /// Measure the network between hosts: throughput, round trips, connections, UDP, MTU.
    Net(Box<NetArgs>),
    /// Print samples of a host as JSON lines: CPUs, memory, sockets, counters of its kernel.
    Observe(ObserveArgs),
    /// Serve a load host as an agent of a fleet; `fleet up` starts it.
    Agent(AgentArgs),
    /// Create and run a test cluster of network namespaces on this machine.
    Lab(LabFlags),
    /// Print shell completions.
    Completions(CompletionsArgs),
    /// Write manual pages to a directory.
    Man(ManArgs),
}

/// `wavetank new`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank new shop.yaml; wavetank check shop.yaml; wavetank plan shop.yaml")]
pub(super) struct NewArgs {
    /// Output file; an existing file is not overwritten
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
}

/// `wavetank completions`.
#[derive(Args, Debug)]
#[command(after_help = "\
bash: wavetank completions bash > ~/.local/share/bash-completion/completions/wavetank
zsh:  wavetank completions zsh > FOLDER-IN-YOUR-fpath/_wavetank
fish: wavetank completions fish > ~/.config/fish/completions/wavetank.fish")]
pub(super) struct CompletionsArgs {
    /// Shell to print completions for
    #[arg(value_parser = SHELLS)]
    pub(super) shell: Shell,
}

/// `wavetank man`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank man ~/.local/share/man/man1; man wavetank-run")]
pub(super) struct ManArgs {
    /// Existing directory to write the pages to
    #[arg(value_name = "DIR")]
    pub(super) dir: PathBuf,
}
