//! [`Streams`]: the requests of a connection of HTTP/2 or HTTP/3, and the responses that they
//! wait for.

use wavetank_wire::streams::StreamServer;

use crate::answer::ScheduledResponse;
use crate::connection::CurrentRequest;

/// The requests of such a connection; see the module documentation.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) server: StreamServer,
    /// Requests that are not complete, by stream.
    pub(crate) asked: Vec<(u32, CurrentRequest)>,
    /// Responses that were not sent yet, by stream.
    pub(crate) owed: Vec<(u32, ScheduledResponse)>,
    /// The connection is closed after the last response.
    pub(crate) closes: bool,
}

impl Streams {
    pub(crate) const fn new(server: StreamServer) -> Self {
        Self { server, asked: Vec::new(), owed: Vec::new(), closes: false }
    }

    /// Returns the first response that satisfies `is_wanted`.
    pub(crate) fn find(
        &mut self,
        is_wanted: impl Fn(&ScheduledResponse) -> bool,
    ) -> Option<&mut ScheduledResponse> {
        self.owed.iter_mut().map(|(_, due)| due).find(|due| is_wanted(due))
    }
}
