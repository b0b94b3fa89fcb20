//! [`Cli`]: what clap knows of the command line. Values stay text here; `wavetank-plan` reads them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::calibrate_args::CalibrateWords;
use super::compare_words::CompareWords;
use super::experiment_args::{FileWords, NewArgs};
use super::explain_args::ExplainWords;
use super::lab_words::LabWords;
use super::run_args::RunWords;
use super::runs_args::RunsWords;
use super::schema_args::SchemaArgs;
use super::search_words::SearchWords;
use super::serve_tls_args::ServeTlsArgs;
use super::size_words::SizeWords;
use super::try_args::TryWords;

/// Commands by what one does with them; kept by hand because clap cannot group them. A test compares it
/// with the commands there are.
const HELP: &str = "\
{about-with-newline}
{usage-heading} {usage}

Load
  run     Load a URL, or carry out an experiment file; `wavetank URL|FILE` is short for it
  search  The highest rate, users or connections that still meet the thresholds
Write
  new     A commented experiment file to begin with
  check   What is wrong with an experiment file, if anything
  plan    What an experiment file comes to: its load over time, what it takes of this host
  try     One user, once: every request, answer, extraction and check shown
  schema  The files' JSON Schema, for editors, on stdout
Look
  report   Show a finished run again
  compare  Two runs, or several a side, beside each other: what differs, and how sure that is
  runs     The runs there are: list, show, prune, pack
  explain  What a code or a word of a report means, why it happens, what to do
Hosts
  calibrate  What this host can do as a generator: measured, kept, and used by `plan`
  size       What a load would take: hosts, addresses, ports, memory, links, limits of the kernel
Lab
  lab  A whole cluster on this machine: hosts, networks, servers, brought up and taken down
Practise
  serve   A target to practise on
  demo    Two short runs against the built-in target: what a freeze does to the numbers
Install
  completions  Words for the shell to complete, on stdout
  man          Manual pages, one for each command, into a folder

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
    /// Load a URL, or carry out an experiment file, and tell what it took.
    Run(Box<RunWords>),
    /// The highest rate, users or connections that still meet the thresholds.
    Search(Box<SearchWords>),
    /// A commented experiment file to begin with.
    New(NewArgs),
    /// What is wrong with an experiment file, if anything.
    Check(Box<FileWords>),
    /// What an experiment file comes to: its load over time, and what it takes of this host.
    Plan(Box<FileWords>),
    /// One user, once: every request, answer, extraction and check shown.
    Try(Box<TryWords>),
    /// The files' JSON Schema, for editors, on stdout.
    Schema(SchemaArgs),
    /// A target to practise on.
    Serve(Box<ServeWords>),
    /// What a load would take: hosts, addresses, ports, memory, links, limits of the kernel.
    Size(Box<SizeWords>),
    /// Two runs, or several a side, beside each other: what differs, and how sure that is.
    Compare(Box<CompareWords>),
    /// Show a finished run again.
    Report(ReportWords),
    /// The runs there are: list, show, prune, pack.
    Runs(Box<RunsWords>),
    /// What a code or a word of a report means, why it happens, what to do.
    Explain(ExplainWords),
    /// Two short runs against the built-in target: what a freeze does to the numbers.
    Demo(DemoWords),
    /// What this host can do as a generator: measured, kept, and used by `plan`.
    Calibrate(Box<CalibrateWords>),
    /// A whole cluster on this machine: hosts, networks, servers, brought up and taken down.
    Lab(LabWords),
    /// Words for the shell to complete, on stdout.
    Completions(CompletionsArgs),
    /// Manual pages, one for each command, into a folder.
    Man(ManArgs),
}

impl CliCommand {
    /// `--out` of the commands that have a result to write.
    pub(super) fn out(&self) -> &[PathBuf] {
        match self {
            Self::Run(words) => &words.result.out,
            Self::Search(words) => &words.result.out,
            Self::Report(words) => &words.out,
            Self::Compare(words) => &words.out,
            Self::Lab(words) => words.out(),
            _ => &[],
        }
    }
}

/// `wavetank serve`.
#[derive(Args, Debug)]
#[command(after_help = "\
Paths: /  /bytes/N  /delay/DURATION  /sleepN (seconds)  /status/CODE  /echo  /close
       /truth tells what was counted, POST /truth/reset forgets it,
       /truth/connections how it stands with connections at this instant
Flash sale: /api/seckill shows it, POST /api/login (user, password), POST /api/order (sku, user),
       POST /admin/sale begins another one (stock, opens_in); wavetank run examples/flash-sale.yaml
Tiers: /tier/simple  /tier/query  /tier/transaction  with ?workers=N&work=DURATION&queue=N as capacity")]
pub(super) struct ServeWords {
    /// Where to listen, several joined by commas; a port alone means 127.0.0.1
    #[arg(long, value_name = "ADDR:PORT,…", default_value = "127.0.0.1:8080")]
    pub(super) listen: String,
    /// Threads [default: one per allowed CPU]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) threads: Option<String>,
    /// Which driver runs the sockets [default: auto, the best this host allows]
    #[arg(long, value_name = "auto|uring|epoll")]
    pub(super) engine: Option<String>,
    /// Connections to be ready for at once: files are found for them, with more threads where they must be
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) connections: Option<String>,
    /// Answer unknown paths like / instead of 404
    #[arg(long)]
    pub(super) any: bool,
    /// Answer nobody for this long, once
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) freeze: Option<String>,
    /// When the freeze begins, after the first request
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) freeze_at: Option<String>,
    /// Keep the flash sale and the tiers' rows in this SQLite file [default: in memory]
    #[arg(long, value_name = "FILE")]
    pub(super) database: Option<PathBuf>,
    /// Who may log in: CSV with columns user and password [default: everybody, with `secret-USER`]
    #[arg(long, value_name = "FILE")]
    pub(super) accounts: Option<PathBuf>,
    #[command(flatten)]
    pub(super) tls: ServeTlsArgs,
}

/// `wavetank report`.
#[derive(Args, Debug)]
#[command(after_help = "\
Formats: text, json and junit as `run` tells them; markdown for a pull request or a wiki; csv, a row for each interval;
  hgrm and hlog, HdrHistogram's percentile distribution and interval log, for its plotters and its log tools
For example: wavetank report latest --out report.md --out seconds.csv
  wavetank report latest --format hgrm --of service --step 'GET /' > service.hgrm")]
pub(super) struct ReportWords {
    /// A run's folder, its name in the runs directory, its id, `latest`, or a packed run
    #[arg(value_name = "RUN|latest")]
    pub(super) run: String,
    /// Shape of the result on stdout: text, json, junit, html, markdown, csv, hgrm, hlog
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: String,
    /// Write the result to a file too, in the format of its suffix: .txt .json .xml .junit .html .md .csv .hgrm
    /// .hlog (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(super) out: Vec<PathBuf>,
    /// hgrm, hlog: of which times: response, service, lag, wait, ttfb, transfer, failed, connect, tls [default: response]
    #[arg(long, value_name = "TIMES")]
    pub(super) of: Option<String>,
    /// hgrm, hlog: of this step alone; SCENARIO/STEP where several have one of that name
    #[arg(long, value_name = "NAME")]
    pub(super) step: Option<String>,
    /// csv, hlog: a row for each interval and step, or a line with a tag for each
    #[arg(long)]
    pub(super) by_step: bool,
    /// csv: a row for each host that was looked at and second instead: of a run in a lab, or with held connections
    #[arg(long)]
    pub(super) by_host: bool,
    /// html: its language, en or zh [default: en]
    #[arg(long, value_name = "en|zh")]
    pub(super) lang: Option<String>,
    /// Where archives lie
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(super) runs_dir: PathBuf,
}

/// `wavetank demo`.
#[derive(Args, Debug)]
pub(super) struct DemoWords {
    /// Where archives lie
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(super) runs_dir: PathBuf,
}

/// `wavetank completions`.
#[derive(Args, Debug)]
#[command(after_help = "\
bash: wavetank completions bash > ~/.local/share/bash-completion/completions/wavetank
zsh:  wavetank completions zsh > FOLDER-IN-YOUR-fpath/_wavetank
fish: wavetank completions fish > ~/.config/fish/completions/wavetank.fish")]
pub(super) struct CompletionsArgs {
    /// For which shell
    #[arg(value_name = "bash|zsh|fish")]
    pub(super) shell: String,
}

/// `wavetank man`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank man ~/.local/share/man/man1; man wavetank-run")]
pub(super) struct ManArgs {
    /// Where the pages go; it must exist
    #[arg(value_name = "DIR")]
    pub(super) dir: PathBuf,
}
