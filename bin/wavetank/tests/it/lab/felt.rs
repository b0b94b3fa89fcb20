//! Effects of faults as a client in the lab sees them.

use std::time::Duration;

use wavetank_testkit::Stamp;

use crate::lab::place::Place;

/// Longest time until an effect is visible.
const FELT_MAX: Duration = Duration::from_mins(1);

/// Returns the status of a response from `app1`, or `000` without a response within a second.
pub(crate) fn status(place: &Place) -> String {
    place.said("load1", "curl -s -m 1 -o /dev/null -w '%{http_code}' http://app1:8080/ || true")
}

/// Panics unless the server responds with this status in time.
#[track_caller]
pub(crate) fn reaches(place: &Place, wanted: &str, when: &str) {
    reaches_text(|| status(place), wanted, when);
}

/// Panics unless `ask` returns this text in time.
#[track_caller]
pub(crate) fn reaches_text(ask: impl Fn() -> String, wanted: &str, when: &str) {
    let began = Stamp::now();
    loop {
        let now = ask();
        if now == wanted {
            return;
        }
        assert!(Stamp::now().since(began) < FELT_MAX, "{when}: still {now}, not {wanted}");
    }
}
