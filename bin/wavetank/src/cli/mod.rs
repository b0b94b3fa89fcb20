//! The command line: from the words typed to a [`Command`], and nothing is run here.
//!
//! clap splits the words (structs in `words`, one file a command); every value is then read by
//! `wavetank-plan`'s own parsers, so that a wrong unit reads the same here and in an experiment file.

mod args;
mod exit;

pub(crate) use args::{
    Command, DemoArgs, Freeze, OutFile, OutputFormat, ReportArgs, RunArgs, RunRef, ServeArgs,
};
pub(crate) use exit::CliExit;
