//! [`FollowUpState`]: the state of a request that needs more than one message.

use super::pending_page::PendingPage;
use crate::auth::ChallengeFault;
use crate::redirect::HttpUrl;

/// The state of a request in progress after its first message.
#[derive(Debug)]
pub(crate) struct FollowUpState {
    /// The address of the current message.
    pub(crate) place: HttpUrl,
    /// Index into the plan's targets.
    pub(crate) target: u16,
    /// Redirects followed since the start of the step or of the embedded resource.
    pub(crate) hops: u8,
    /// Whether a challenge was answered.
    pub(crate) challenged: bool,
    /// A challenge was not answered, or its answer was refused.
    pub(crate) unanswered: Option<ChallengeFault>,
    /// The cookies that the step itself set, if they go to the current place.
    pub(crate) cookies: Vec<u8>,
    /// The page that waits for its resources.
    pub(crate) page: Option<PendingPage>,
}
