//! [`Shortfall`]: something a host has too little of, and for how many connections it is enough.

use wavetank_units::UserError;

use crate::PlanShare;

/// See the module's description.
pub(super) struct Shortfall {
    error: UserError,
    /// Connections that there is enough for; `None`: fewer would not mend it.
    most: Option<u64>,
}

impl From<UserError> for Shortfall {
    fn from(error: UserError) -> Self {
        Self { error, most: None }
    }
}

impl Shortfall {
    /// With enough of it for `most` connections.
    pub(super) const fn exceeding(most: u64, error: UserError) -> Self {
        Self { error, most: Some(most) }
    }

    /// Returns the shortfall for the whole plan, of which a host executes `share`.
    pub(super) fn of_share(self, share: PlanShare) -> Self {
        Self { most: self.most.map(|most| share.total_of(most)), ..self }
    }

    /// Returns all shortfalls as errors. `fewer` is the option or key that sets the number of
    /// connections, such as `hold:`. The number of connections that fits all limits is suggested
    /// once. With one suggestion per limit, a user who follows the first one would run into the
    /// second limit.
    pub(super) fn into_user_errors(lacks: Vec<Self>, fewer: &str) -> Vec<UserError> {
        let least = lacks.iter().filter_map(|lack| lack.most).min().filter(|&least| least > 0);
        let place = lacks.iter().position(|lack| lack.most.is_some() && lack.most == least);
        let mut reported: Vec<UserError> = lacks.into_iter().map(|lack| lack.error).collect();
        if let (Some(least), Some(place)) = (least, place) {
            reported[place].hint = format!("{}; or fewer: {fewer} {least}", reported[place].hint);
        }
        reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(most: &[Option<u64>], hints: &[&str]) {
        let lack = |&most: &Option<u64>| Shortfall {
            error: UserError::refused(wavetank_units::Code::Conflict, "", "buy"),
            most,
        };
        let reported = Shortfall::into_user_errors(most.iter().map(lack).collect(), "hold:");
        assert_eq!(reported.iter().map(|error| error.hint.as_str()).collect::<Vec<_>>(), hints, "{most:?}");
    }

    #[test]
    fn the_least_is_proposed_once() {
        check(&[], &[]);
        check(&[None], &["buy"]);
        check(&[Some(7)], &["buy; or fewer: hold: 7"]);
        check(&[Some(9), None, Some(7), Some(7)], &["buy", "buy", "buy; or fewer: hold: 7", "buy"]);
        check(&[Some(9), Some(0)], &["buy", "buy"]);
    }
}
