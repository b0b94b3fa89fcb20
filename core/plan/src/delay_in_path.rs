//! [`delay_in_path`]: the duration of a response, if its path names one.

use wavetank_units::Nanos;
use wavetank_units::quantity::parse_duration;

/// `/delay/100s` and `/sleep100` (seconds), as the built-in target understands them.
pub fn delay_in_path(path: &str) -> Option<Nanos> {
    let path = path.split('?').next()?;
    if let Some(delay) = path.strip_prefix("/delay/") {
        return parse_duration(delay).ok();
    }
    path.strip_prefix("/sleep")?.parse().ok().filter(|seconds| *seconds < 1_000_000).map(Nanos::from_secs)
}
