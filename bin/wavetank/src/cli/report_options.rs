//! [`ReportOptions`]: options of a result other than its format.

use clap::Args;
use wavetank_report::{Language, LatencySeries};
use wavetank_units::{Code, UserError};

use super::choice::Choice;
use super::output_args::{LANGUAGES, check_language};
use super::output_formats::OutputFormat;

/// Options of formats with several possible contents.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReportOptions {
    /// hgrm, hlog: which times to export [default: response]
    #[arg(long = "of", visible_alias = "times", value_parser = Choice::new(&LatencySeries::ALL))]
    pub(crate) times: Option<LatencySeries>,
    /// hgrm, hlog: only this step; SCENARIO/STEP if several steps have the name
    #[arg(long, value_name = "NAME")]
    pub(crate) step: Option<String>,
    /// csv: one row per interval and step; hlog: one tagged line per interval and step
    #[arg(long)]
    pub(crate) by_step: bool,
    /// csv: one row per sampled host and second
    #[arg(long)]
    pub(crate) by_host: bool,
    /// html: language of the page [default: en]
    #[arg(long = "lang", value_parser = LANGUAGES)]
    pub(crate) language: Option<Language>,
}

impl ReportOptions {
    /// Refuses options of formats that are not requested, and steps of times that have none.
    pub(super) fn check(&self, formats: &[OutputFormat]) -> Result<(), UserError> {
        let Self { times, step, by_step, by_host, language } = self;
        check_language(*language, formats)?;
        let is = |known: &[OutputFormat]| formats.iter().any(|format| known.contains(format));
        let histograms = [OutputFormat::Hgrm, OutputFormat::Hlog];
        let (message, hint) = if times.is_some() && !is(&histograms) {
            (
                "--of applies only to histograms",
                "use it with --format hgrm or hlog, or --out FILE.hgrm or .hlog",
            )
        } else if step.is_some() && !is(&histograms) {
            (
                "--step applies only to histograms",
                "use it with --format hgrm or hlog; csv lists all steps with --by-step",
            )
        } else if *by_step && !is(&[OutputFormat::Csv, OutputFormat::Hlog]) {
            (
                "--by-step applies only to csv and hlog",
                "use it with --format csv or hlog, or --out FILE.csv or .hlog",
            )
        } else if *by_host && (*by_step || !is(&[OutputFormat::Csv])) {
            (
                "--by-host applies only to csv without --by-step",
                "use it with --format csv or --out FILE.csv: one row per host and second",
            )
        } else {
            let times = times.unwrap_or_default();
            let needs_steps = step.is_some() || *by_step && is(&[OutputFormat::Hlog]);
            if needs_steps && !times.is_per_step() {
                let message = format!("{} times are not stored per step", times.name());
                let hint = "--of response and --of service are; the others are stored per phase";
                return Err(UserError::usage(Code::Conflict, message, hint));
            }
            return Ok(());
        };
        Err(UserError::usage(Code::Conflict, message, hint))
    }
}
