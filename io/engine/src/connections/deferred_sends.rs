//! Requests handed to a driver that sends with its next wait. They count as sent once they have
//! left.

use wavetank_driver::{ConnId, Driver};
use wavetank_units::Nanos;

use super::events::ConnectionOutcome;
use super::{Connections, DeferredSend};
use crate::slab::Id;

impl<D: Driver> Connections<D> {
    /// Records that the driver has accepted a request.
    #[inline]
    pub(super) fn on_send_queued(&mut self, link: ConnId, exchange: Id, at: Nanos) {
        if D::SENDS_LATER {
            self.leaving.push(DeferredSend { link, exchange, at });
        } else {
            self.outcomes.push_back(ConnectionOutcome::Sent(exchange, at));
        }
    }

    /// Records that everything was sent except what the driver now returns. That part waits for its
    /// connection to end.
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
            let seat = self.seat_of(link);
            if self.seats[seat as usize].link != Some(link) {
                continue;
            }
            if self.uses_streams(seat) {
                // One send carries the requests of all streams.
                return self.take_back_streams(seat, link);
            }
            self.conversation(seat).flights.refuse();
        }
    }

    /// Flushes the sends of a connection that is about to be closed. Otherwise it would never be
    /// known whether they left.
    pub(super) fn flush_conn(&mut self, link: ConnId) {
        if self.leaving.iter().any(|leaving| leaving.link == link) {
            self.flush_all();
        }
    }

    /// Sends everything that was handed over, and counts it.
    #[cold]
    pub(crate) fn flush_all(&mut self) {
        self.driver.send_now();
        self.reclaim_unsent();
        let left =
            self.leaving.drain(..).map(|leaving| ConnectionOutcome::Sent(leaving.exchange, leaving.at));
        self.outcomes.extend(left);
    }
}
