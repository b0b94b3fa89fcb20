//! [`LoadArgs`]: amount and duration of the load, for `run`, `search`, `check` and `plan`.

use clap::Args;
use wavetank_plan::{Arrivals, RunOptions, Stage};
use wavetank_units::quantity::{
    parse_count_positive, parse_duration, parse_duration_positive, parse_rate_positive,
};
use wavetank_units::{Code, Nanos, Rate, UserError};

use super::choice::Choice;
use super::errors::Errors;
use super::value_parsers::parse_seed;

/// `--arrivals`.
const ARRIVALS: Choice<Arrivals> = Choice::new(&[("even", Arrivals::Even), ("poisson", Arrivals::Poisson)]);

/// Amount and duration of the load.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub(super) struct LoadArgs {
    /// Number of connections, one user on each; with -r the size of the pool [default: 50; with -r,
    /// opened on demand, limited by the rate and the latency of the probe]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count_positive)]
    pub(super) connections: Option<u64>,
    /// Arrival rate of the open loop, independent of the target's responses: 500/s, 5k/s, 7/min
    #[arg(short, long, value_name = "RATE", allow_negative_numbers = true, value_parser = parse_rate_positive)]
    pub(super) rate: Option<Rate>,
    /// Length of the measured load [default: 10s, or none with -n]
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = run_length)]
    pub(super) duration: Option<Nanos>,
    /// Maximum number of requests; combined with -d, the first limit reached ends the run
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count_positive)]
    pub(super) requests: Option<u64>,
    /// Load stage: ramp to this rate or number of users in this time: '1m:100/s', '1m:50 users'
    /// (repeatable) [default: none, a constant load]
    #[arg(long, value_name = "DURATION:LOAD", allow_negative_numbers = true, value_parser = Stage::parse)]
    pub(super) stage: Vec<Stage>,
    /// Warm-up: the same load before the measured part, reported separately and not judged
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration)]
    pub(super) warmup: Option<Nanos>,
    /// Spacing of arrivals with -r [default: even]
    #[arg(long, value_parser = ARRIVALS)]
    pub(super) arrivals: Option<Arrivals>,
    /// Seed of every random choice; the same seed gives the same schedule [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_seed)]
    pub(super) seed: Option<u64>,
    /// Request timeout, including connect and the full response [default: 60s]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration_positive)]
    pub(super) timeout: Option<Nanos>,
    /// Connect timeout, including the TLS handshake; part of --timeout [default: 5s]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration_positive)]
    pub(super) connect_timeout: Option<Nanos>,
    /// How long to wait for open requests after the load ends; 0s aborts them [default: 30s, or
    /// --timeout if longer]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration)]
    pub(super) drain: Option<Nanos>,
    /// With -r: maximum number of open requests; arrivals beyond it are dropped [default: rate ×
    /// timeout, limited by this host]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count_positive)]
    pub(super) max_open: Option<u64>,
    /// Connections opened per second before the load starts [default: 5k/s]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, value_parser = parse_rate_positive)]
    pub(super) open_rate: Option<Rate>,
    /// Send one request, print it, the response and all timings, then exit
    #[arg(long)]
    pub(super) once: bool,
    /// Send no probe request before the load
    #[arg(long)]
    pub(super) no_probe: bool,
    /// With an experiment file: send a probe request before the load, as for a URL
    #[arg(long)]
    pub(super) probe: bool,
    #[command(flatten)]
    pub(super) asked: TargetCountArgs,
}

/// Polling of the target's own counters.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct TargetCountArgs {
    /// With a file that holds connections: poll the target's connection count every second
    /// (`wavetank serve` reports it) [default: only a target on this host]
    #[arg(long, visible_alias = "target-counts")]
    pub(super) truth: bool,
    /// Do not poll the target's count
    #[arg(long, visible_alias = "no-target-counts")]
    pub(super) no_truth: bool,
}

impl LoadArgs {
    /// Returns the first given option that only applies to a file.
    pub(super) fn first_file_only_flag(&self) -> Option<&'static str> {
        let all =
            [("--probe", self.probe), ("--truth", self.asked.truth), ("--no-truth", self.asked.no_truth)];
        all.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Returns these options, without the others of a run.
    pub(super) fn resolve(self, errors: &mut Errors) -> RunOptions {
        let (probe, truth) = (errors.keep(self.probe()), errors.keep(self.truth()));
        RunOptions {
            connections: self.connections,
            rate: self.rate,
            duration: self.duration,
            requests: self.requests,
            stages: self.stage,
            warmup: self.warmup,
            arrivals: self.arrivals,
            seed: self.seed,
            timeout: self.timeout,
            connect_timeout: self.connect_timeout,
            drain: self.drain,
            max_open: self.max_open,
            open_rate: self.open_rate,
            once: self.once,
            probe,
            truth,
            ..RunOptions::default()
        }
    }

    fn probe(&self) -> Result<Option<bool>, UserError> {
        if self.probe && self.no_probe {
            let hint = "use one of the two; by default a URL is probed and a file is not";
            return Err(UserError::usage(Code::Conflict, "--probe and --no-probe exclude each other", hint));
        }
        Ok(self.probe.then_some(true).or(self.no_probe.then_some(false)))
    }

    fn truth(&self) -> Result<Option<bool>, UserError> {
        let TargetCountArgs { truth, no_truth } = self.asked;
        if truth && no_truth {
            let hint = "use one of the two; by default a target on this host is polled";
            return Err(UserError::usage(Code::Conflict, "--truth and --no-truth exclude each other", hint));
        }
        Ok(truth.then_some(true).or(no_truth.then_some(false)))
    }
}

/// Parses `-d`. curl's `-d` is a body: `-d '{"a":1}'`, `-d a=b`, `-d @file`.
fn run_length(text: &str) -> Result<Nanos, UserError> {
    let is_body = text.starts_with(['{', '[', '"', '@', '<']) || text.contains(['=', '&']);
    if !is_body {
        return parse_duration_positive(text);
    }
    let hint = match text.strip_prefix('@') {
        Some(file) => {
            format!("a body from a file is --body-file {file} (curl's -d); -d is the duration: -d 10s")
        }
        None => "a body is --body TEXT (curl's -d); -d is the duration: -d 10s".to_owned(),
    };
    Err(UserError::usage(Code::NotANumber, format!("`{text}` is not a duration"), hint))
}
