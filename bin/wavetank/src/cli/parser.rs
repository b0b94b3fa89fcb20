//! [`Cli`]: the command line as clap parses it. Values stay text here; `wavetank-plan` parses them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::calibrate_args::CalibrateWords;
use super::compare_words::CompareWords;
use super::experiment_args::{FileWords, NewArgs};
use super::explain_args::ExplainWords;
use super::lab_words::LabWords;
use super::run_args::RunWords;
use super::run_options::default_runs_dir;
use super::runs_args::RunsWords;
use super::schema_args::SchemaArgs;
use super::search_words::SearchWords;
use super::serve_tls_args::ServeTlsArgs;
use super::size_words::SizeWords;
use super::try_args::TryWords;

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
Results
  report   Show a finished run again
  compare  Compare two runs or two groups of runs, with confidence intervals
  runs     List, show, prune and pack stored runs
  explain  Explain an error code, exit code or report term
Hosts
  calibrate  Measure how much load this host can generate; `plan` uses the result
  size       Estimate the hosts, addresses, ports, memory and kernel limits a load needs
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
    Run(Box<RunWords>),
    /// Find the highest load that still meets the thresholds.
    Search(Box<SearchWords>),
    /// Write a commented example experiment file.
    New(NewArgs),
    /// Check an experiment file for errors.
    Check(Box<FileWords>),
    /// Show the load an experiment file describes and the resources it needs on this host.
    Plan(Box<FileWords>),
    /// Run one virtual user once and show every request, response, extraction and check.
    Try(Box<TryWords>),
    /// Print the JSON Schema of the file formats, for editors.
    Schema(SchemaArgs),
    /// Start the built-in test server.
    Serve(Box<ServeWords>),
    /// Estimate the hosts, addresses, ports, memory and kernel limits a load needs.
    Size(Box<SizeWords>),
    /// Compare two runs or two groups of runs, with confidence intervals.
    Compare(Box<CompareWords>),
    /// Show a finished run again.
    Report(ReportWords),
    /// List, show, prune and pack stored runs.
    Runs(Box<RunsWords>),
    /// Explain an error code, exit code or report term.
    Explain(ExplainWords),
    /// Run two short tests against the built-in server and show what a freeze does.
    Demo(DemoWords),
    /// Measure how much load this host can generate; `plan` uses the result.
    Calibrate(Box<CalibrateWords>),
    /// Create and run a test cluster of network namespaces on this machine.
    Lab(LabWords),
    /// Print shell completions.
    Completions(CompletionsArgs),
    /// Write manual pages to a directory.
    Man(ManArgs),
}

/// `wavetank serve`.
#[derive(Args, Debug)]
#[command(after_help = "\
Paths: /  /bytes/N  /delay/DURATION  /sleepN (seconds)  /status/CODE  /echo  /close
       /truth reports the counters, POST /truth/reset sets them to zero,
       /truth/connections reports the current connections
Flash sale: /api/seckill shows it, POST /api/login (user, password), POST /api/order (sku, user),
       POST /admin/sale starts another one (stock, opens_in); wavetank run examples/flash-sale.yaml
Tiers: /tier/simple  /tier/query  /tier/transaction  with ?workers=N&work=DURATION&queue=N as capacity")]
pub(super) struct ServeWords {
    /// Addresses to listen on, joined by commas; a port alone means 127.0.0.1
    #[arg(long, value_name = "ADDR:PORT,…", default_value = "127.0.0.1:8080")]
    pub(super) listen: String,
    /// Threads [default: one per allowed CPU]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) threads: Option<String>,
    /// Socket driver [default: auto, the best one available]
    #[arg(long, value_name = "auto|uring|epoll")]
    pub(super) engine: Option<String>,
    /// Number of simultaneous connections to prepare for (raises the open-file limit, adds threads
    /// if needed)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) connections: Option<String>,
    /// Answer unknown paths like / instead of 404
    #[arg(long, visible_alias = "any-path")]
    pub(super) any: bool,
    /// Stop answering for this long, once
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) freeze: Option<String>,
    /// Start of the freeze, counted from the first request
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) freeze_at: Option<String>,
    /// Store the sale and tier data in this SQLite file [default: in memory]
    #[arg(long, value_name = "FILE")]
    pub(super) database: Option<PathBuf>,
    /// CSV file of accounts, columns user and password [default: any user, password `secret-USER`]
    #[arg(long, value_name = "FILE")]
    pub(super) accounts: Option<PathBuf>,
    #[command(flatten)]
    pub(super) tls: ServeTlsArgs,
}

/// `wavetank report`.
#[derive(Args, Debug)]
#[command(after_help = "\
Formats: text, json and junit as printed by `run`; markdown for a pull request or a wiki; csv, a row for each interval;
  hgrm and hlog, HdrHistogram's percentile distribution and interval log, for its plotters and its log tools
For example: wavetank report latest --out report.md --out seconds.csv
  wavetank report latest --format hgrm --of service --step 'GET /' > service.hgrm")]
pub(super) struct ReportWords {
    /// Folder, name or id of a run, `latest`, or a packed run
    #[arg(value_name = "RUN|latest")]
    pub(super) run: String,
    /// Output format on stdout: text, oneline, json, junit, html, markdown, csv, hgrm, hlog
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: String,
    /// Also write the result to a file, in the format of its suffix: .txt .json .xml .junit .html
    /// .md .csv .hgrm .hlog (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(super) out: Vec<PathBuf>,
    /// hgrm, hlog: which times to export: response, service, lag, wait, ttfb, transfer, failed,
    /// connect, tls [default: response]
    #[arg(long, visible_alias = "times", value_name = "TIMES")]
    pub(super) of: Option<String>,
    /// hgrm, hlog: only this step; SCENARIO/STEP if several steps have the name
    #[arg(long, value_name = "NAME")]
    pub(super) step: Option<String>,
    /// csv: one row per interval and step; hlog: one tagged line per interval and step
    #[arg(long)]
    pub(super) by_step: bool,
    /// csv: one row per sampled host and second (lab runs and runs that hold connections)
    #[arg(long)]
    pub(super) by_host: bool,
    /// html: language of the page, en or zh [default: en]
    #[arg(long, value_name = "en|zh")]
    pub(super) lang: Option<String>,
    /// Directory of stored runs [default: $`WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    pub(super) runs_dir: PathBuf,
}

/// `wavetank demo`.
#[derive(Args, Debug)]
pub(super) struct DemoWords {
    /// Directory of stored runs [default: $`WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    pub(super) runs_dir: PathBuf,
}

/// `wavetank completions`.
#[derive(Args, Debug)]
#[command(after_help = "\
bash: wavetank completions bash > ~/.local/share/bash-completion/completions/wavetank
zsh:  wavetank completions zsh > FOLDER-IN-YOUR-fpath/_wavetank
fish: wavetank completions fish > ~/.config/fish/completions/wavetank.fish")]
pub(super) struct CompletionsArgs {
    /// Shell to print completions for
    #[arg(value_name = "bash|zsh|fish")]
    pub(super) shell: String,
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
