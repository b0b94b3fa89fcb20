//! Requests handed to a driver whose sends leave with its next wait: they count as sent once they have left.

use wavetank_driver::{ConnId, Driver};
use wavetank_plan::Nanos;

use super::{ConnectionOutcome, Connections};
use crate::slab::Id;

/// One such request.
pub(crate) struct DeferredSend {
    link: ConnId,
    pub(crate) exchange: Id,
    /// When it was handed over.
    pub(crate) at: Nanos,
}

impl<D: Driver> Connections<D> {
    /// The driver has taken a request.
    #[inline]
    pub(super) fn on_send_queued(&mut self, link: ConnId, exchange: Id, at: Nanos) {
        if D::SENDS_LATER {
            self.leaving.push(DeferredSend { link, exchange, at });
        } else {
            self.outcomes.push_back(ConnectionOutcome::Sent(exchange, at));
        }
    }

    /// All has left but what the driver now tells of. That waits for the end of its connection.
    #[inline]
    pub(super) fn reclaim_unsent(&mut self) {
        while let Some((link, sends)) = self.driver.take_unsent() {
            self.take_back_from(link, sends);
        }
    }

    #[cold]
    fn take_back_from(&mut self, link: ConnId, sends: u32) {
        for _ in 0..sends {
            let Some(last) = self.leaving.iter().rposition(|leaving| leaving.link == link) else { return };
            self.leaving.remove(last);
            let seat = self.seat_of(link) as usize;
            if self.seats[seat].link == Some(link) {
                self.conversation(seat as u32).flights.refuse();
            }
        }
    }

    /// The connection is about to be closed: what was handed over for it leaves first, or it will never be known
    /// whether it did.
    pub(super) fn flush_conn(&mut self, link: ConnId) {
        if self.leaving.iter().any(|leaving| leaving.link == link) {
            self.flush_all();
        }
    }

    /// Everything that was handed over leaves now, and counts.
    #[cold]
    pub(crate) fn flush_all(&mut self) {
        self.driver.send_now();
        self.reclaim_unsent();
        let left =
            self.leaving.drain(..).map(|leaving| ConnectionOutcome::Sent(leaving.exchange, leaving.at));
        self.outcomes.extend(left);
    }
}
