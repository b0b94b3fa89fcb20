//! [`ObserveArgs`]: arguments of `wavetank observe`.

use std::path::PathBuf;

use clap::Args;
use wavetank_units::quantity::{parse_duration, parse_duration_positive};
use wavetank_units::{Code, Nanos, UserError};

/// The shortest time between two samples.
const INTERVAL_MIN: Nanos = Nanos::from_millis(100);

/// `wavetank observe`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank observe --for 10s
             wavetank observe web1 --interval 500ms             over ssh; web1 needs no wavetank
             ip netns exec blue wavetank observe                in a network namespace
             wavetank lab exec lb1 -- wavetank observe --for 5s in a host of a lab
             wavetank run http://web1/ --observe web1           into the archive of a run
Each line is a JSON object as in hosts/HOST.jsonl of an archive; `at_ns` is Unix time")]
pub(crate) struct ObserveArgs {
    /// Host to observe over ssh [default: this host]
    #[arg(value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Time between two samples, at least 100ms
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = interval)]
    pub(crate) interval: Nanos,
    /// How long to observe [default: until it is interrupted]
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration_positive)]
    pub(crate) lasts: Option<Nanos>,
    /// Configuration file of ssh in place of the user's
    #[arg(long, value_name = "FILE", requires = "host")]
    pub(crate) ssh_config: Option<PathBuf>,
}

fn interval(text: &str) -> Result<Nanos, UserError> {
    let interval = parse_duration(text)?;
    if interval >= INTERVAL_MIN {
        return Ok(interval);
    }
    let message = format!("`{text}` is shorter than {INTERVAL_MIN}");
    Err(UserError::usage(Code::BadInterval, message, "use --interval 100ms or longer"))
}
