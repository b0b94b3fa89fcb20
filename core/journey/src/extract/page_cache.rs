//! [`PageCache`]: the resources that pages embed, read once while the same page keeps coming.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::embedded_resources::Resources;
use crate::redirect::HttpUrl;

/// Maximum number of embedded resources that are fetched for a page.
pub const RESOURCES_MAX: usize = 256;

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
    pub(crate) fn embedded_in(&mut self, page: &[u8], from: &HttpUrl) -> Arc<Resources> {
        if let Some((known, place, found)) = &self.last
            && (known.as_slice(), place) == (page, from)
        {
            return Arc::clone(found);
        }
        let found = Arc::new(Resources::find_in(page, from, RESOURCES_MAX));
        self.last = Some((page.to_vec(), from.clone(), Arc::clone(&found)));
        found
    }

    /// Returns the text to report about `subject`, once for each subject.
    pub(crate) fn note(&mut self, text: impl FnOnce() -> String, subject: &str) -> Option<String> {
        if self.noted.len() >= NOTED_MAX || self.noted.contains(subject) {
            return None;
        }
        self.noted.insert(subject.to_owned());
        Some(text())
    }
}
