//! What a client in a lab feels of its server.

use std::time::Duration;

use wavetank_testkit::Stamp;

use crate::lab::place::Place;

/// How long something may take to be felt.
const FELT_MAX: Duration = Duration::from_secs(30);

/// The status of an answer from `app1`; `000`: none within a second.
pub(crate) fn status(place: &Place) -> String {
    place.said("load1", "curl -s -m 1 -o /dev/null -w '%{http_code}' http://app1:8080/ || true")
}

/// Panics unless the server comes to answer so.
#[track_caller]
pub(crate) fn comes_to(place: &Place, wanted: &str, when: &str) {
    comes_to_say(|| status(place), wanted, when);
}

/// Panics unless what is asked comes to be told so.
#[track_caller]
pub(crate) fn comes_to_say(ask: impl Fn() -> String, wanted: &str, when: &str) {
    let began = Stamp::now();
    loop {
        let now = ask();
        if now == wanted {
            return;
        }
        assert!(Stamp::now().since(began) < FELT_MAX, "{when}: still {now}, not {wanted}");
    }
}
