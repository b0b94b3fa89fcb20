//! [`Freeze`]: the time in which the server sends no response.

use std::sync::atomic::{AtomicI64, Ordering};

use wavetank_units::Nanos;

/// No request has arrived yet.
const NONE: i64 = i64::MIN;

/// The time of the first request over all threads, and the freeze relative to it.
#[derive(Debug)]
pub(crate) struct Freeze {
    plan: Option<(Nanos, Nanos)>,
    first: AtomicI64,
}

impl Freeze {
    /// Creates a freeze with `plan`, a pair of delay after the first request and length; `None` for
    /// no freeze.
    pub(crate) const fn new(plan: Option<(Nanos, Nanos)>) -> Self {
        Self { plan, first: AtomicI64::new(NONE) }
    }

    /// Notes a request that came at `now`. Returns when the first request came.
    #[inline]
    pub(crate) fn note_request(&self, now: Nanos) -> Nanos {
        // All later requests only read the value, so the threads can share the cache line.
        if let Some(first) = self.first() {
            return first;
        }
        match self.first.compare_exchange(NONE, now.0, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => now,
            Err(first) => Nanos(first),
        }
    }

    /// Returns when the first request came, if one did.
    #[inline]
    pub(crate) fn first(&self) -> Option<Nanos> {
        let first = self.first.load(Ordering::Relaxed);
        (first != NONE).then_some(Nanos(first))
    }

    /// Returns the end of the freeze if `now` is within it.
    #[inline]
    pub(crate) fn frozen_until(&self, now: Nanos) -> Option<Nanos> {
        let (at, length) = self.plan?;
        let begin = self.first()?.after(at);
        let end = begin.after(length);
        (begin <= now && now < end).then_some(end)
    }

    /// Forgets the first request.
    pub(crate) fn reset(&self) {
        self.first.store(NONE, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_from_its_begin_until_before_its_end() {
        let freeze = Freeze::new(Some((Nanos(100), Nanos(50))));
        assert_eq!(freeze.frozen_until(Nanos(120)), None);
        for (now, first) in [(20, 20), (30, 20)] {
            assert_eq!(freeze.note_request(Nanos(now)), Nanos(first));
        }
        for (now, end) in [(119, None), (120, Some(170)), (169, Some(170)), (170, None)] {
            assert_eq!(freeze.frozen_until(Nanos(now)), end.map(Nanos), "at {now}");
        }
        freeze.reset();
        assert_eq!((freeze.frozen_until(Nanos(150)), freeze.first()), (None, None));
        freeze.note_request(Nanos(150));
        assert_eq!(freeze.frozen_until(Nanos(250)), Some(Nanos(300)));
    }

    #[test]
    fn without_a_plan_never_holds() {
        let freeze = Freeze::new(None);
        freeze.note_request(Nanos(0));
        assert_eq!(freeze.frozen_until(Nanos(0)), None);
    }
}
