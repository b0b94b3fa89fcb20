//! The resources of a page that a session must fetch.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::session_event::SessionEvent;
use crate::compiled::FollowUpConfig;
use crate::extract::PageCache;
use crate::redirect::HttpUrl;
use crate::state::Session;

/// Maximum number of fetched addresses that a session remembers. Further ones are fetched again.
const FETCHED_MAX: usize = 4_096;

/// Returns the resources of `page` that `session` must fetch: those that it has not fetched yet and
/// that belong to a target of the plan.
pub(super) fn resources_to_fetch(
    afield: &FollowUpConfig,
    pages: &mut PageCache,
    session: &mut Session,
    (page, from, near): (&[u8], &HttpUrl, u16),
    events: &mut Vec<SessionEvent>,
) -> VecDeque<(HttpUrl, u16)> {
    let found = pages.embedded_in(page, from);
    if found.unread || found.left_out > 0 {
        let words = || {
            let what =
                if found.unread { "is too long or too deeply nested" } else { "embeds too many resources" };
            format!("{} {what}: not all of its resources are fetched", from.as_str())
        };
        events.extend(pages.note(words, from.as_str()).map(SessionEvent::Log));
    }
    let mut all = VecDeque::new();
    for place in &found.places {
        let Some(target) = afield.places.target_for(place, near) else {
            let words = || {
                let host = place.authority();
                format!(
                    "resources embedded from {host} are not fetched: it is not a target (hint: add it under targets)"
                )
            };
            events.extend(pages.note(words, place.authority()).map(SessionEvent::Log));
            continue;
        };
        if is_new(&mut session.data_mut().fetched, place) {
            all.push_back((place.clone(), target));
        }
    }
    all
}

/// Whether `place` has not been fetched before. It is recorded as fetched.
fn is_new(fetched: &mut Vec<u64>, place: &HttpUrl) -> bool {
    let mut hasher = DefaultHasher::new();
    place.as_str().hash(&mut hasher);
    let hash = hasher.finish();
    let Err(at) = fetched.binary_search(&hash) else { return false };
    if fetched.len() < FETCHED_MAX {
        fetched.insert(at, hash);
    }
    true
}
