//! More than one message for a request: tried again, redirected, asked who it is from, fetching what a page embeds.

use wavetank_driver::Driver;
use wavetank_journey::{FollowUp, FollowUpKind};
use wavetank_plan::Nanos;

use super::{ANY_SEAT, Exchanges, Stage};
use crate::completed::PendingVerdict;
use crate::recorder::Recorder;
use crate::request_flags::RequestFlags;
use crate::request_queue::QueuedRequest;
use crate::slab::Id;

impl<D: Driver> Exchanges<D> {
    /// A session sends something more for a request that was answered: it is written already, and goes out on `seat`,
    /// or on any that is shared. The request's time goes on.
    pub(crate) fn send_follow_up(
        &mut self,
        answered: &PendingVerdict,
        leg: &FollowUp,
        seat: Option<u32>,
        rec: &mut Recorder,
    ) {
        let PendingVerdict { exchange, first_byte, at, .. } = *answered;
        let Some(entry) = self.slab.get_mut(exchange) else { return };
        entry.target = leg.target;
        entry.manner = RequestFlags::from_leg(leg);
        entry.stage = Stage::More(leg.kind);
        entry.seat = seat.unwrap_or(ANY_SEAT);
        self.connections.letters.reset_response(exchange);
        if leg.kind == FollowUpKind::Resource {
            // What a page embeds is the end of its answer, not the beginning.
            self.connections.letters.entry(exchange).page_began.get_or_insert(first_byte);
        }
        let at = self.connections.fresh(at);
        self.resend(exchange, false, at, rec);
    }

    /// Send what is to be sent for `exchange` now. `first`: ahead of all others that wait.
    #[cold]
    pub(super) fn resend(&mut self, exchange: Id, first: bool, at: Nanos, rec: &mut Recorder) {
        let Some(entry) = self.slab.get_mut(exchange) else { return };
        let key = entry.offered.key;
        let seat = (entry.seat != ANY_SEAT).then_some(entry.seat);
        let timeout = self.connections.requests.get(key.scenario, key.step).timeout;
        let flight = QueuedRequest {
            exchange,
            deadline: entry.begun.after(timeout),
            scenario: key.scenario,
            step: key.step,
            again: first,
            target: entry.target,
            manner: entry.manner,
        };
        self.connections.submit(flight, seat, key.phase, at, rec);
    }

    /// Something has left that is not the first message of its request.
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
