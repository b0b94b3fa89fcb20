//! [`PageCache`]: the resources that pages embed, read once while the same page keeps coming.
//! [`PendingPage`]: a page that waits for its resources.

use std::collections::{BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::embedded_resources::Resources;
use crate::extract::ResponseView;
use crate::follow_up_error::FollowUpError;
use crate::redirect::HttpUrl;
use crate::session::{Session, SessionEvent};

use super::FollowUpConfig;

/// Maximum number of embedded resources that are fetched for a page.
pub const RESOURCES_MAX: usize = 256;
/// Maximum size of all resources of a page, in bytes. The request fails if they are larger.
pub const RESOURCE_BYTES_MAX: u64 = 256 << 20;
/// Maximum number of fetched addresses that a session remembers. Further ones are fetched again.
const FETCHED_MAX: usize = 4_096;
/// Maximum number of places without a target that a load thread reports.
const NOTED_MAX: usize = 32;

/// The embedded resources that one load thread knows.
#[derive(Debug, Default)]
pub(crate) struct PageCache {
    /// The last page, its address, and what it embeds. Under load the next page is usually the
    /// same.
    last: Option<(Vec<u8>, HttpUrl, Arc<Resources>)>,
    /// Pages and places that have already been reported.
    noted: BTreeSet<String>,
}

impl PageCache {
    /// Returns the resources that `page`, which came from `from`, embeds.
    fn embedded_in(&mut self, page: &[u8], from: &HttpUrl) -> Arc<Resources> {
        if let Some((known, place, found)) = &self.last
            && (known.as_slice(), place) == (page, from)
        {
            return Arc::clone(found);
        }
        let found = Arc::new(Resources::find_in(page, from, RESOURCES_MAX));
        self.last = Some((page.to_vec(), from.clone(), Arc::clone(&found)));
        found
    }

    /// Reports something once for each `subject`.
    fn note(&mut self, words: impl FnOnce() -> String, subject: &str, told: &mut Vec<SessionEvent>) {
        if self.noted.len() < NOTED_MAX && !self.noted.contains(subject) {
            self.noted.insert(subject.to_owned());
            told.push(SessionEvent::Log(words()));
        }
    }
}

/// A page that is judged only after its resources have arrived.
#[derive(Debug)]
pub(super) struct PendingPage {
    /// The request for the page. The requests for its resources are derived from it.
    pub(super) request: Vec<u8>,
    pub(super) place: HttpUrl,
    /// Index into the plan's targets.
    pub(super) target: u16,
    /// The cookies of the request that the step itself set.
    pub(super) cookies: Vec<u8>,
    pub(super) status: u16,
    pub(super) size: u64,
    /// The page's fields, if the step uses them.
    pub(super) fields: Vec<u8>,
    /// The decoded body, if the step uses it.
    pub(super) body: Vec<u8>,
    /// The resources that are still to be fetched, and their targets.
    pub(super) left: VecDeque<(HttpUrl, u16)>,
    /// Bytes of the resources fetched.
    pub(super) bytes: u64,
    /// The first failure.
    pub(super) failed: Option<FollowUpError>,
}

impl PendingPage {
    /// Handles the response for an embedded resource from `place`.
    pub(super) fn take_in(
        &mut self,
        afield: &FollowUpConfig,
        place: &HttpUrl,
        answer: &ResponseView<'_>,
    ) -> Result<(), FollowUpError> {
        if !afield.expect_resource.contains(answer.status) {
            let failed = || FollowUpError::Resource(place.as_str().to_owned(), answer.status);
            self.failed.get_or_insert_with(failed);
        }
        self.bytes = self.bytes.saturating_add(answer.size);
        if self.bytes > RESOURCE_BYTES_MAX {
            return Err(FollowUpError::ResourcesTooLarge(self.place.as_str().to_owned()));
        }
        Ok(())
    }
}

/// Returns the resources of `page` that `session` must fetch: those that it has not fetched yet and
/// that belong to a target of the plan.
pub(super) fn resources_to_fetch(
    afield: &FollowUpConfig,
    pages: &mut PageCache,
    session: &mut Session,
    (page, from, near): (&[u8], &HttpUrl, u16),
    told: &mut Vec<SessionEvent>,
) -> VecDeque<(HttpUrl, u16)> {
    let found = pages.embedded_in(page, from);
    if found.unread || found.left_out > 0 {
        let words = || {
            let what =
                if found.unread { "is too long or too deeply nested" } else { "embeds too many resources" };
            format!("{} {what}: not all of its resources are fetched", from.as_str())
        };
        pages.note(words, from.as_str(), told);
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
            pages.note(words, place.authority(), told);
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
