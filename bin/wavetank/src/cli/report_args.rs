//! [`ReportArgs`]: arguments of `wavetank report`.

use std::path::PathBuf;

use clap::Args;
use wavetank_units::UserError;

use super::output_args::{all_formats, check_files};
use super::output_formats::{OutFile, OutputFormat};
use super::report_options::ReportOptions;
use super::value_parsers::{default_runs_dir, parse_run};

/// `wavetank report`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
Formats: text, json and junit as printed by `run`; markdown for a pull request or a wiki; csv, a row for each interval;
  hgrm and hlog, HdrHistogram's percentile distribution and interval log, for its plotters and its log tools
For example: wavetank report latest --out report.md --out seconds.csv
  wavetank report latest --format hgrm --of service --step 'GET /' > service.hgrm")]
pub(crate) struct ReportArgs {
    /// Folder, name or id of a run, `latest`, or a packed run
    #[arg(value_name = "RUN|latest", value_parser = |text: &str| parse_run(text, "wavetank report latest"))]
    pub(crate) run: String,
    /// Output format on stdout
    #[arg(long, default_value = "text")]
    pub(crate) format: OutputFormat,
    /// Also write the result to a file, in the format of its suffix: .txt .json .xml .junit .html
    /// .md .csv .hgrm .hlog (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<OutFile>,
    #[command(flatten)]
    pub(crate) wants: ReportOptions,
    /// Directory of stored runs [default: `WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    pub(crate) runs_dir: PathBuf,
}

impl ReportArgs {
    /// Refuses options that do not apply to the formats, and one file by two names.
    pub(super) fn check(&self) -> Result<(), UserError> {
        check_files(&self.out)?;
        self.wants.check(&all_formats(self.format, &self.out))
    }
}
