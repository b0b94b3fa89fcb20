//! The times of a request, from the instants of its messages.

use wavetank_units::Nanos;

use super::Exchange;
use crate::messages::RequestTimes;

impl Exchange {
    #[inline]
    pub(super) fn times(&self, first_byte: Nanos, at: Nanos, has_resources: bool) -> RequestTimes {
        let sent = self.sent.unwrap_or(self.begun);
        // An instant that was corrected is not exact.
        let (first_byte, at) = (first_byte.max(sent), at.max(sent));
        let times = RequestTimes {
            intended: self.offered.intended,
            response: length(self.offered.intended, at),
            service: length(sent, at),
            lag: length(self.offered.intended, self.begun),
            ttfb: length(sent, first_byte),
            transfer: length(first_byte, at),
        };
        if self.own_work == Nanos::ZERO { times } else { self.without_own_work(times, has_resources) }
    }

    /// Returns `times` without the time of this thread's own work. Most requests have none.
    #[cold]
    fn without_own_work(&self, times: RequestTimes, has_resources: bool) -> RequestTimes {
        // The work cannot have been longer. Otherwise the parts would be more than the response.
        let own_work = self.own_work.0.unsigned_abs().min(times.service);
        // The first byte of a page with embedded resources came before the page was evaluated. The
        // first byte after a redirect came later than that.
        let (before, after) = if has_resources { (0, own_work) } else { (own_work, 0) };
        RequestTimes {
            response: times.response.saturating_sub(own_work),
            service: times.service.saturating_sub(own_work),
            ttfb: times.ttfb.saturating_sub(before),
            transfer: times.transfer.saturating_sub(after),
            ..times
        }
    }
}

/// Returns the length between two instants, never negative. Unlike [`Nanos::since`], it does not
/// stop at the largest `i64`.
#[inline]
pub(super) const fn length(from: Nanos, to: Nanos) -> u64 {
    if to.0 > from.0 { to.0.abs_diff(from.0) } else { 0 }
}

#[cfg(test)]
mod tests {
    use wavetank_plan::Key;

    use super::*;
    use crate::exchange::{ANY_SLOT, Stage};
    use crate::offered::{OfferedRequest, Owner};
    use crate::request_flags::RequestFlags;

    /// Intended at 10, begun at 12, sent at 15, with this own work until `at`.
    fn check(own_work: i64, at: i64, service: u64) {
        let offered = OfferedRequest { key: Key::default(), intended: Nanos(10), owner: Owner::User(0) };
        let exchange = Exchange {
            offered,
            begun: Nanos(12),
            sent: Some(Nanos(15)),
            own_work: Nanos(own_work),
            slot: ANY_SLOT,
            target: 0,
            flags: RequestFlags::default(),
            stage: Stage::First,
        };
        let times = exchange.times(Nanos(at), Nanos(at), false);
        assert_eq!((times.lag, times.service), (2, service), "{own_work} until {at}");
        assert_eq!(times.response, times.lag + 3 + times.service, "lag, wait and service: {times:?}");
    }

    #[test]
    fn a_response_is_the_sum_of_its_parts() {
        check(0, 25, 10);
        check(4, 25, 6);
        // The instant of the end was corrected, so the work is longer than the rest.
        check(14, 25, 0);
        check(4, 13, 0);
    }
}
