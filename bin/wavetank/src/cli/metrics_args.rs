//! [`MetricsArgs`]: where metrics go while the run is in progress.

use clap::Args;
use wavetank_metrics::OutputSpec;
use wavetank_units::{Code, UserError};

use super::output_formats::OutputFormat;

/// Where metrics go while the run is in progress.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Result")]
pub(crate) struct MetricsArgs {
    /// Send metrics during the run (repeatable): prometheus=[HOST]:PORT to be scraped,
    /// prometheus-write=URL, otlp=URL, otlp-proto=URL, influx=URL, influx=udp://HOST:PORT,
    /// statsd=HOST:PORT, json=FILE, json=-
    #[arg(long = "metrics", value_name = "KIND=WHERE", value_parser = OutputSpec::parse)]
    pub(crate) outputs: Vec<OutputSpec>,
}

impl MetricsArgs {
    /// Refuses outputs that would be mixed up or ignored.
    pub(super) fn check(&self, once: bool, format: OutputFormat) -> Result<(), UserError> {
        let conflict = |message: String, hint: &str| Err(UserError::usage(Code::Conflict, message, hint));
        if once && !self.outputs.is_empty() {
            let hint = "leave out --metrics: --once is not a run and has no intervals";
            return conflict("--once and --metrics exclude each other".to_owned(), hint);
        }
        if format != OutputFormat::Json && self.outputs.iter().any(OutputSpec::uses_stdout) {
            let hint = "use --format json, so that stdout has only JSON; or --metrics json=FILE";
            return conflict("--metrics json=- would mix with the result on stdout".to_owned(), hint);
        }
        let twice = self.outputs.iter().enumerate().find(|(at, output)| self.outputs[..*at].contains(output));
        match twice {
            Some((_, output)) => {
                conflict(format!("--metrics {} is given twice", output.label()), "use it once")
            }
            None => Ok(()),
        }
    }
}
