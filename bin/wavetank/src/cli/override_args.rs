//! [`OverrideArgs`]: options of a run that replace values of an experiment file.

use std::collections::BTreeMap;

use clap::Args;
use wavetank_plan::{Condition, RunOptions};
use wavetank_units::{Code, UserError};

use super::connection_args::ConnectionArgs;
use super::errors::Errors;
use super::load_args::LoadArgs;
use super::load_source::RequestExtras;
use super::request_args::RequestArgs;
use super::tls_args::TlsArgs;
use super::value_parsers::parse_tag;

/// Overrides for values of the experiment file, shared by `run`, `check` and `plan`.
#[derive(Args, Debug)]
pub(super) struct OverrideArgs {
    #[command(flatten)]
    pub(super) load: LoadArgs,
    #[command(flatten)]
    pub(super) request: RequestArgs,
    #[command(flatten)]
    pub(super) connection: ConnectionArgs,
    #[command(flatten)]
    pub(super) tls: TlsArgs,
    #[command(flatten)]
    judge: ThresholdArgs,
    #[command(flatten)]
    naming: NameArgs,
}

/// Name and labels of a run.
#[derive(Args, Debug)]
#[command(next_help_heading = "Name")]
pub(super) struct NameArgs {
    /// Name of the run, part of its archive's name [default: host and port]
    #[arg(long, value_name = "WORD")]
    name: Option<String>,
    /// Label stored with the run (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_tag)]
    tag: Vec<(String, String)>,
}

/// Thresholds and stop conditions.
#[derive(Args, Debug)]
#[command(next_help_heading = "Verdict")]
pub(super) struct ThresholdArgs {
    /// Threshold of the verdict: 'p99 < 250ms' (repeatable) [default: done > 0, failed < 1%]
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    threshold: Vec<Condition>,
    /// Stop the run as FAIL on this condition: 'failed > 50% for 10s' (repeatable)
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    stop: Vec<Condition>,
}

/// The options of a run, with the named files read.
pub(super) struct ResolvedOptions {
    pub(super) options: RunOptions,
    /// `--source auto`: all addresses of the interface towards the target.
    pub(super) source_auto: bool,
    /// The request of a URL beyond `options`.
    pub(super) request: RequestExtras,
}

impl OverrideArgs {
    /// Returns all options. Errors are kept in `errors`.
    pub(super) fn resolve(self, errors: &mut Errors) -> ResolvedOptions {
        let options = self.load.resolve(errors);
        let (options, request) = self.request.resolve(options, errors);
        let source_auto = self.connection.is_source_auto();
        let options = RunOptions {
            tls: errors.keep(self.tls.read()),
            thresholds: self.judge.threshold,
            stop: self.judge.stop,
            name: self.naming.name,
            tags: errors.keep(tags(self.naming.tag)),
            ..self.connection.resolve(options, errors)
        };
        ResolvedOptions { options, source_auto, request }
    }
}

fn tags(pairs: Vec<(String, String)>) -> Result<BTreeMap<String, String>, UserError> {
    let mut tags = BTreeMap::new();
    for (key, value) in pairs {
        let message = format!("--tag `{key}` is given twice");
        if tags.insert(key, value).is_some() {
            return Err(UserError::usage(Code::Conflict, message, "one value for each key"));
        }
    }
    Ok(tags)
}
