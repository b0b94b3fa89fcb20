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
    pub(super) fn on_send_queued(&mut self, conn: ConnId, exchange: Id, at: Nanos) {
        if D::SENDS_LATER {
            self.leaving.push(DeferredSend { conn, exchange, at });
        } else {
            self.outcomes.push_back(ConnectionOutcome::Sent(exchange, at));
        }
    }

    /// Records that everything was sent except what the driver now returns. That part waits for its
    /// connection to end.
    #[inline]
    pub(super) fn reclaim_unsent(&mut self) {
        while let Some((conn, sends)) = self.driver.take_unsent() {
            self.take_back_from(conn, sends);
        }
    }

    #[cold]
    fn take_back_from(&mut self, conn: ConnId, sends: u32) {
        for _ in 0..sends {
            let Some(last) = self.leaving.iter().rposition(|leaving| leaving.conn == conn) else { return };
            self.leaving.remove(last);
            let slot = self.slot_of(conn);
            if self.slots[slot as usize].conn != Some(conn) {
                continue;
            }
            if self.uses_streams(slot) {
                // One send carries the requests of all streams.
                return self.take_back_streams(slot, conn);
            }
            self.io_of(slot).queue.refuse();
        }
    }

    /// Flushes the sends of a connection that is about to be closed. Otherwise it would never be
    /// known whether they left.
    pub(super) fn flush_conn(&mut self, conn: ConnId) {
        if self.leaving.iter().any(|leaving| leaving.conn == conn) {
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
