//! [`LabWords`]: the words of `wavetank lab`, and what they mean.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use wavetank_plan::UserError;

use super::args::FileFormat;
use super::convert::{at, one_of};
use super::lab_args::{LabArgs, LabDeed};

/// `wavetank lab`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank lab up examples/labs/haproxy-http.yaml; wavetank lab status
             wavetank lab exec load1 -- curl -s http://lb1:8080/; wavetank lab logs lb1 haproxy; wavetank lab down
A lab needs root. Everything of it is gone after down: nothing is made in this machine's own network")]
pub(super) struct LabWords {
    #[command(subcommand)]
    what: LabWhat,
}

#[derive(Debug, Subcommand)]
enum LabWhat {
    /// What is wrong with a topology file, if anything; nothing is created, and no root is needed
    Check(CheckWords),
    /// Bring up the hosts, networks and services that a topology file describes
    Up(UpWords),
    /// The labs there are: hosts, addresses, services
    Status(StatusWords),
    /// Run a command in a host
    Exec(ExecWords),
    /// What a host's services wrote
    Logs(LogsWords),
    /// Take a lab down; also what one left that was killed
    Down(WhichWords),
}

#[derive(Args, Debug)]
struct CheckWords {
    /// The topology file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Shape of the answer
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: String,
}

#[derive(Args, Debug)]
struct UpWords {
    /// The topology file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Call the lab so, to have several beside each other [default: the file's `name`]
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
}

#[derive(Args, Debug)]
struct WhichWords {
    /// Which lab, where there are several
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
}

#[derive(Args, Debug)]
struct StatusWords {
    #[command(flatten)]
    which: WhichWords,
    /// Shape of the answer
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: String,
}

#[derive(Args, Debug)]
struct ExecWords {
    /// The host
    #[arg(value_name = "HOST")]
    host: String,
    #[command(flatten)]
    which: WhichWords,
    /// The command and its words, behind `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    words: Vec<OsString>,
}

#[derive(Args, Debug)]
struct LogsWords {
    /// The host
    #[arg(value_name = "HOST")]
    host: String,
    /// The service; all of the host's without it
    #[arg(value_name = "SERVICE")]
    service: Option<String>,
    #[command(flatten)]
    which: WhichWords,
}

/// Reads every word.
pub(super) fn lab(words: LabWords) -> Result<LabArgs, UserError> {
    Ok(match words.what {
        LabWhat::Up(words) => LabArgs { lab: words.lab, deed: LabDeed::Up { file: words.file } },
        LabWhat::Check(words) => {
            LabArgs { lab: None, deed: LabDeed::Check { file: words.file, format: format(&words.format)? } }
        }
        LabWhat::Status(words) => {
            LabArgs { lab: words.which.lab, deed: LabDeed::Status { format: format(&words.format)? } }
        }
        LabWhat::Exec(words) => {
            LabArgs { lab: words.which.lab, deed: LabDeed::Exec { host: words.host, words: words.words } }
        }
        LabWhat::Logs(words) => {
            let deed = LabDeed::Logs { host: words.host, service: words.service };
            LabArgs { lab: words.which.lab, deed }
        }
        LabWhat::Down(words) => LabArgs { lab: words.lab, deed: LabDeed::Down },
    })
}

fn format(word: &str) -> Result<FileFormat, UserError> {
    at("--format", one_of(word, &[("text", FileFormat::Text), ("json", FileFormat::Json)], &[]))
}
