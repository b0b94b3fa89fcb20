//! [`LabWords`]: arguments of `wavetank lab`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use wavetank_plan::UserError;
use wavetank_plan::quantity::parse_duration_positive;

use super::args::FileFormat;
use super::lab_args::{FaultCommand, LabArgs, LabCommand, PoolCommand};
use super::run_args::RunWords;
use super::run_options;
use super::value_parsers::{parse_choice, with_flag};

/// `wavetank lab`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank lab up examples/labs/haproxy-http.yaml; wavetank lab status
             wavetank lab exec load1 -- curl -s http://lb1:8080/; wavetank lab logs lb1 haproxy; wavetank lab down
A lab needs root. This machine's own network is not changed, and nothing remains after `down`")]
pub(super) struct LabWords {
    #[command(subcommand)]
    what: LabSubcommand,
}

#[derive(Debug, Subcommand)]
enum LabSubcommand {
    /// Check a topology file for errors and, as root, list what this machine lacks; create nothing
    Check(CheckWords),
    /// Bring up the hosts, networks and services that a topology file describes
    Up(UpWords),
    /// Run a load test from the lab's load hosts; a lab that is not up is brought up for the run
    /// and taken down after it
    Run(Box<LabRunArgs>),
    /// List running labs with hosts, addresses and services
    Status(StatusWords),
    /// Run a command in a host
    Exec(ExecWords),
    /// Print the logs of a host's services
    Logs(LogsWords),
    /// Show, drain, re-enable or reweight the servers of a balancer
    Pool(PoolWords),
    /// Inject a fault into a host: kill, stop or pause a service, cut a link, drop packets, exhaust
    /// files, slow down
    Fault(FaultArgs),
    /// Remove a lab, including one with a killed process
    Down(LabNameArgs),
}

#[derive(Args, Debug)]
struct CheckWords {
    /// The topology file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Output format
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: String,
}

#[derive(Args, Debug)]
struct UpWords {
    /// The topology file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Lab name, to run several labs simultaneously [default: the file's `name`]
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank lab run examples/labs/one-server.yaml examples/labs/one-server-load.yaml
All other options are those of `wavetank run`. Conditions may refer to hosts: cpu(lb1) < 90%, established(lb1) >= 2k in keep")]
struct LabRunArgs {
    /// The topology file
    #[arg(value_name = "LAB")]
    lab_file: PathBuf,
    /// Lab name, to run several labs simultaneously [default: the file's `name`]
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
    #[command(flatten)]
    run: RunWords,
}

#[derive(Args, Debug)]
struct LabNameArgs {
    /// Name of the lab, if there are several
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
}

#[derive(Args, Debug)]
struct StatusWords {
    #[command(flatten)]
    which: LabNameArgs,
    /// Output format
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: String,
}

#[derive(Args, Debug)]
struct ExecWords {
    /// The host
    #[arg(value_name = "HOST")]
    host: String,
    #[command(flatten)]
    which: LabNameArgs,
    /// Command and arguments, after `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    words: Vec<OsString>,
}

#[derive(Args, Debug)]
struct LogsWords {
    /// The host
    #[arg(value_name = "HOST")]
    host: String,
    /// Service [default: all services of the host]
    #[arg(value_name = "SERVICE")]
    service: Option<String>,
    /// Follow the log until the lab ends or Ctrl-C
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    which: LabNameArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank lab pool lb1; wavetank lab pool lb1 haproxy app1 drain; wavetank lab pool lb1 haproxy app1 ready
             wavetank lab pool lb1 direct_routing web[1-2] weight 3
drain: no new connections; ready: the weight in the topology file; weight N: 0 to 256. Open connections stay.
Works with direct routing, NAT and HAProxy. Leave out SERVICE if the host has only one of them.")]
struct PoolWords {
    /// The host
    #[arg(value_name = "HOST")]
    host: String,
    /// Nothing or SERVICE to show the servers; SERVICE SERVER followed by drain, ready or weight N
    /// to change one
    #[arg(value_name = "SERVICE", num_args = 0..=4)]
    words: Vec<String>,
    #[command(flatten)]
    which: LabNameArgs,
    /// Output format
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: String,
}

/// Converts the arguments of `pool`: a single one is a service, unless it is a verb.
fn pool(words: PoolWords) -> Result<LabArgs, UserError> {
    let ask = match words.words.as_slice() {
        [] => PoolCommand::Show(None),
        [one] if !["drain", "ready", "weight"].contains(&one.as_str()) => {
            PoolCommand::Show(Some(one.clone()))
        }
        some => PoolCommand::Change(some.join(" ")),
    };
    let format = format(&words.format)?;
    Ok(LabArgs { lab: words.which.lab, deed: LabCommand::Pool { host: words.host, ask, format } })
}

#[derive(Args, Debug)]
#[command(after_help = "\
FAULT is one of: kill SERVICE · stop SERVICE · pause SERVICE · cut NETWORK · drop SHARE NETWORK
                 files SERVICE N · slow SERVICE TIME · undo NUMBER
Leave out SERVICE or NETWORK if the host has only one.
For example: wavetank lab fault app1 kill nginx; wavetank lab fault app1 drop 20% --for 10s
             wavetank lab fault app1 undo 3                      reverts the fault with this number")]
struct FaultArgs {
    /// The host
    #[arg(value_name = "HOST")]
    host: String,
    /// Fault to inject
    #[arg(value_name = "FAULT", required = true, num_args = 1..=3)]
    words: Vec<String>,
    /// Duration; the fault is reverted afterwards or on interrupt [default: until undo or down]
    #[arg(long = "for", value_name = "TIME")]
    lasts: Option<String>,
    #[command(flatten)]
    which: LabNameArgs,
}

/// Converts the arguments of `fault`.
fn fault(words: FaultArgs) -> Result<LabArgs, UserError> {
    let lasts = words.lasts.as_deref().map(parse_duration_positive).transpose();
    let lasts = with_flag("--for", lasts)?;
    let what = match words.words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["undo", number] => {
            let hint = "use the number that `lab fault` printed: undo 3";
            let number = number.parse().map_err(|_| {
                UserError::usage("lab_fault_words", format!("`{number}` is not the number of a fault"), hint)
            })?;
            if lasts.is_some() {
                let message = "--for has no effect on undo";
                return Err(UserError::usage("lab_fault_words", message, "leave --for out"));
            }
            FaultCommand::End(number)
        }
        _ => FaultCommand::Begin(words.words.join(" "), lasts),
    };
    Ok(LabArgs { lab: words.which.lab, deed: LabCommand::Fault { host: words.host, what } })
}

/// Converts all arguments; `command` is the redacted command line.
pub(super) fn lab(words: LabWords, command: String) -> Result<LabArgs, UserError> {
    Ok(match words.what {
        LabSubcommand::Up(words) => LabArgs { lab: words.lab, deed: LabCommand::Up { file: words.file } },
        LabSubcommand::Check(words) => LabArgs {
            lab: None,
            deed: LabCommand::Check { file: words.file, format: format(&words.format)? },
        },
        LabSubcommand::Run(words) => {
            let LabRunArgs { lab_file, lab, run } = *words;
            let args = Box::new(run_options::run(run, command)?);
            LabArgs { lab, deed: LabCommand::Run { file: lab_file, args } }
        }
        LabSubcommand::Status(words) => {
            LabArgs { lab: words.which.lab, deed: LabCommand::Status { format: format(&words.format)? } }
        }
        LabSubcommand::Exec(words) => {
            LabArgs { lab: words.which.lab, deed: LabCommand::Exec { host: words.host, words: words.words } }
        }
        LabSubcommand::Logs(words) => {
            let deed = LabCommand::Logs { host: words.host, service: words.service, follow: words.follow };
            LabArgs { lab: words.which.lab, deed }
        }
        LabSubcommand::Pool(words) => return pool(words),
        LabSubcommand::Fault(words) => return fault(words),
        LabSubcommand::Down(words) => LabArgs { lab: words.lab, deed: LabCommand::Down },
    })
}

fn format(word: &str) -> Result<FileFormat, UserError> {
    with_flag("--format", parse_choice(word, &[("text", FileFormat::Text), ("json", FileFormat::Json)], &[]))
}
