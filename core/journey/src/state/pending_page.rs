//! [`PendingPage`]: a page that waits for its resources.

use std::collections::VecDeque;

use crate::compiled::FollowUpConfig;
use crate::extract::ResponseView;
use crate::follow_up_error::FollowUpError;
use crate::redirect::HttpUrl;

/// Maximum size of all resources of a page, in bytes. The request fails if they are larger.
pub const RESOURCE_BYTES_MAX: u64 = 256 << 20;

/// A page that is judged only after its resources have arrived.
#[derive(Debug)]
pub(crate) struct PendingPage {
    /// The request for the page. The requests for its resources are derived from it.
    pub(crate) request: Vec<u8>,
    pub(crate) place: HttpUrl,
    /// Index into the plan's targets.
    pub(crate) target: u16,
    /// The cookies of the request that the step itself set.
    pub(crate) cookies: Vec<u8>,
    pub(crate) status: u16,
    pub(crate) size: u64,
    /// The page's fields, if the step uses them.
    pub(crate) fields: Vec<u8>,
    /// The decoded body, if the step uses it.
    pub(crate) body: Vec<u8>,
    /// The resources that are still to be fetched, and their targets.
    pub(crate) left: VecDeque<(HttpUrl, u16)>,
    /// Bytes of the resources fetched.
    pub(crate) bytes: u64,
    /// The first failure.
    pub(crate) failed: Option<FollowUpError>,
}

impl PendingPage {
    /// Handles the response for an embedded resource from `place`.
    pub(crate) fn take_in(
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
