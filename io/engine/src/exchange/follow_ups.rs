//! Requests with more than one message: retries, redirects, authentication challenges, embedded
//! resources.

use wavetank_driver::Driver;
use wavetank_journey::{FollowUp, FollowUpKind};
use wavetank_units::Nanos;
use wavetank_wire::messages::Operation;

use super::{ANY_SLOT, Exchanges, Stage};
use crate::completed::{CompletedRequest, PendingVerdict};
use crate::failure;
use crate::recorder::Recorder;
use crate::request_flags::RequestFlags;
use crate::request_queue::QueuedRequest;
use crate::slab::Id;

impl<D: Driver> Exchanges<D> {
    /// Sends one more message of a session for a request that was answered. The message is written
    /// already, and uses `slot` or any shared connection. The time of the request continues.
    pub(crate) fn send_follow_up(
        &mut self,
        answered: &PendingVerdict,
        leg: &FollowUp,
        slot: Option<u32>,
        rec: &mut Recorder,
    ) {
        let PendingVerdict { exchange, first_byte, at, .. } = *answered;
        let Some(entry) = self.slab.get_mut(exchange) else { return };
        entry.target = leg.target;
        entry.flags = RequestFlags::from_leg(leg);
        entry.stage = Stage::More(leg.kind);
        entry.slot = slot.unwrap_or(ANY_SLOT);
        self.connections.buffers.reset_response(exchange);
        if leg.kind == FollowUpKind::Resource {
            // The end of embedded resources is the end of the page's response, not its start.
            self.connections.buffers.entry(exchange).page_began.get_or_insert(first_byte);
        }
        let at = self.connections.fresh(at);
        self.resend(exchange, false, at, rec);
    }

    /// Goes on waiting for messages, because the last one was not the awaited one.
    ///
    /// If the connection has ended meanwhile, the request has failed: the answer cannot come on
    /// another one.
    pub(crate) fn wait_on(
        &mut self,
        answered: &PendingVerdict,
        rec: &mut Recorder,
    ) -> Option<CompletedRequest> {
        let PendingVerdict { exchange, at, .. } = *answered;
        let slot = self.slab.get_mut(exchange)?.slot;
        if slot != ANY_SLOT && !self.connections.is_open(slot) {
            return self.broken(exchange, &failure::AFTER_CLOSE, at, rec);
        }
        self.connections.buffers.reset_response(exchange);
        let request = &mut self.connections.buffers.entry(exchange).request;
        request.clear();
        request.extend(Operation::WaitOn.prefix());
        let at = self.connections.fresh(at);
        self.resend(exchange, false, at, rec);
        None
    }

    /// Sends the current message of `exchange` now. `first`: before all other waiting requests.
    #[cold]
    pub(super) fn resend(&mut self, exchange: Id, first: bool, at: Nanos, rec: &mut Recorder) {
        let Some(entry) = self.slab.get_mut(exchange) else { return };
        let key = entry.offered.key;
        let slot = (entry.slot != ANY_SLOT).then_some(entry.slot);
        let timeout = self.connections.requests.get(key.scenario, key.step).timeout;
        let request = QueuedRequest {
            exchange,
            deadline: entry.begun.after(timeout),
            scenario: key.scenario,
            step: key.step,
            again: first,
            target: entry.target,
            flags: entry.flags,
        };
        self.connections.submit(request, slot, key.phase, at, rec);
    }

    /// Records that a message left that is not the first one of its request.
    #[cold]
    pub(super) fn on_more_sent(&mut self, exchange: Id, rec: &mut Recorder) {
        let Some(entry) = self.slab.get_mut(exchange) else { return };
        let key = entry.offered.key;
        match entry.stage {
            Stage::First | Stage::MoreSent | Stage::More(FollowUpKind::Challenge) => rec.retried(key),
            Stage::More(FollowUpKind::Redirect) => rec.redirected(key),
            Stage::More(FollowUpKind::Resource) => rec.resource(key),
        }
        if entry.stage != Stage::First {
            entry.stage = Stage::MoreSent;
        }
    }
}
