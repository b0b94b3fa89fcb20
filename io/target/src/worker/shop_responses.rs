//! Responses with outcomes from the shop's database.

use wavetank_driver::Driver;

use super::Worker;
use crate::answer::Response;
use crate::truth::Counts;

/// Maximum number of responses in one turn, before other clients get theirs.
const DELIVERIES_PER_TURN: usize = 256;

impl<D: Driver> Worker<D> {
    /// Gives out some of the returned jobs. Those of closed connections are dropped.
    pub(super) fn deliver(&mut self, counts: &Counts) {
        for _ in 0..DELIVERIES_PER_TURN {
            let Some((id, ticket, reply)) = self.teller.next_done(self.now) else { break };
            let Some(connection) = self.connections.get(id) else { continue };
            let is_his = |answer: &Response| matches!(answer, Response::Awaited(his) if *his == ticket);
            // It may be missing: the last of too many pending responses is replaced by a 503.
            if let Some(due) = connection.find_owed(|due| is_his(&due.answer)) {
                due.answer = reply.into();
                self.advance(id, counts);
            }
        }
    }
}
