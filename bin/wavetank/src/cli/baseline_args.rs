//! `run … --baseline`: compares a finished run with earlier ones.

use clap::Args;
use wavetank_units::{Code, UserError};

use super::compare_settings::{CompareSettings, limit, metric, split};
use super::errors::with_flag;
use super::output_formats::OutputFormat;
use super::value_parsers::SEED;

/// Runs to compare the finished run with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BaselineArgs {
    /// Names of the runs that the new one is compared with; never empty.
    pub(crate) runs: Vec<String>,
    /// Options of the comparison.
    pub(crate) wishes: CompareSettings,
}

/// Options of the comparison after a run.
#[derive(Args, Debug)]
#[command(next_help_heading = "Comparison")]
pub(super) struct BaselineFlags {
    /// Compare the finished run with this one (repeatable, or joined by commas; several runs give a
    /// more certain result)
    #[arg(long, value_name = "RUN,…")]
    baseline: Vec<String>,
    /// With --baseline: exit 1 if a value is significantly worse by more than this share
    #[arg(long, value_name = "SHARE", requires = "baseline", allow_negative_numbers = true, value_parser = limit)]
    max_regression: Option<f64>,
    /// With --baseline: judge only this value: p99, failed, 'p99(STEP)' (repeatable)
    #[arg(long, value_name = "VALUE", requires = "baseline", value_parser = metric)]
    metric: Vec<String>,
}

impl BaselineFlags {
    /// Returns what to compare with, if anything. `formats` are those of stdout and files; `kept`
    /// says whether the run has an archive.
    pub(super) fn resolve(
        self,
        formats: &[OutputFormat],
        kept: bool,
    ) -> Result<Option<BaselineArgs>, UserError> {
        if self.baseline.is_empty() {
            return Ok(None);
        }
        let runs = with_flag("--baseline", split(&self.baseline))?;
        if runs.is_empty() {
            return Err(UserError::usage(Code::OneSide, "--baseline names no run", "--baseline 7f3a"));
        }
        if !kept {
            let hint = "leave out --no-archive or --once: the comparison reads the archive";
            return Err(UserError::usage(Code::Conflict, "--baseline needs the run's archive", hint));
        }
        let known = [OutputFormat::Text, OutputFormat::Json, OutputFormat::Junit, OutputFormat::Markdown];
        if formats.iter().any(|format| !known.contains(format)) {
            let hint = "use text, json, junit or markdown; afterwards: wavetank report latest --out FILE for the run, and wavetank \
                    compare RUN latest --out FILE.html for both";
            let message = "--baseline reports run and comparison together, which this format cannot hold";
            return Err(UserError::usage(Code::Conflict, message, hint));
        }
        let wishes =
            CompareSettings { metrics: self.metric, max_regression: self.max_regression, seed: SEED };
        Ok(Some(BaselineArgs { runs, wishes }))
    }
}
