//! Arguments of `wavetank check` and `wavetank plan`: [`CheckFlags`] as typed, [`CheckArgs`] with
//! the named files read.

use std::path::PathBuf;

use clap::Args;
use wavetank_plan::RunOptions;
use wavetank_units::{Code, UserError};

use super::errors::Errors;
use super::experiment_args::{ExperimentArgs, ExperimentSource, FileArgs};
use super::output_formats::FileFormat;
use super::override_args::{OverrideArgs, ResolvedOptions};

/// `wavetank check`, `wavetank plan`.
#[derive(Args, Debug)]
pub(super) struct CheckFlags {
    /// Experiment file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    experiment: ExperimentArgs,
    #[command(flatten)]
    options: OverrideArgs,
    /// Output format
    #[arg(long, default_value = "text")]
    format: FileFormat,
}

/// `wavetank check`, `wavetank plan`: the same arguments as `run`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CheckArgs {
    /// The file.
    pub(crate) file: FileArgs,
    /// Values that replace those of the file.
    pub(crate) options: RunOptions,
    /// `--source auto`: all addresses of the interface towards the target.
    pub(crate) source_auto: bool,
}

impl CheckFlags {
    /// Checks the options and reads the named files. Errors are reported together with those in
    /// `errors`.
    pub(super) fn resolve(self, mut errors: Errors) -> Result<CheckArgs, UserError> {
        if self.options.request.curl.is_some() {
            let hint = "wavetank run --curl FILE runs it";
            let message = "--curl applies only to run and search";
            return errors.finish(Err(UserError::usage(Code::Conflict, message, hint)));
        }
        let ResolvedOptions { options, source_auto, request } = self.options.resolve(&mut errors);
        errors.keep(request.check_unused());
        let file = self.experiment.resolve(ExperimentSource::File(self.file), self.format);
        Ok(CheckArgs { file: errors.finish(file)?, options, source_auto })
    }
}
