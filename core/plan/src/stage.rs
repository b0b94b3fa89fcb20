//! [`Stage`]: one `--stage` of the command line.

use wavetank_units::quantity::{parse_count, parse_duration_positive, parse_rate};
use wavetank_units::{Code, Nanos, Rate, UserError};

/// A ramp: the load that is reached, and the time in which it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The length of the ramp.
    pub length: Nanos,
    /// The load at its end.
    pub to: StageLoad,
}

/// The load at the end of a [`Stage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageLoad {
    /// Open loop: arrivals per time.
    Rate(Rate),
    /// Closed loop: users.
    Users(u64),
}

impl Stage {
    /// Parses `1m:100/s` or `1m:50 users`.
    ///
    /// # Errors
    /// Text without a colon, a length or a load without its unit, and zero lengths.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let shape = "DURATION:LOAD: --stage 1m:100/s, or --stage '1m:50 users'";
        let Some((length, load)) = text.split_once(':') else {
            return Err(UserError::usage(Code::BadStage, format!("`{text}` has no colon"), shape));
        };
        let within =
            |error: UserError| UserError { message: format!("`{text}`: {}", error.message), ..error };
        let length = parse_duration_positive(length.trim()).map_err(within)?;
        let load = load.trim();
        let users = ["users", "user", "vus", "vu"].iter().find_map(|unit| load.strip_suffix(unit));
        let to = match users {
            Some(count) => StageLoad::Users(parse_count(count.trim()).map_err(within)?),
            None if parse_count(load).is_ok() => {
                let hint = format!("{load}/s for a rate, or '{load} users' for users that wait");
                let message = format!("`{text}`: `{load}` has no unit");
                return Err(UserError::usage(Code::UnitMissing, message, hint));
            }
            None => StageLoad::Rate(parse_rate(load).map_err(within)?),
        };
        Ok(Self { length, to })
    }
}
