//! Answers that come back from the shop's database.

use wavetank_driver::Driver;

use super::Worker;
use crate::answer::Response;
use crate::truth::Counts;

/// Given out in one turn, before others get theirs.
const DELIVERIES_PER_TURN: usize = 256;

impl<D: Driver> Worker<D> {
    /// Give out some of what came back. Whoever has left meanwhile left nothing behind.
    pub(super) fn deliver(&mut self, counts: &Counts) {
        for _ in 0..DELIVERIES_PER_TURN {
            let Some((id, ticket, answer)) = self.teller.next_done(self.now) else { break };
            let Some(connection) = self.connections.get(id) else { continue };
            let is_his = |answer: &Response| matches!(answer, Response::Awaited(his) if *his == ticket);
            // He may have been refused more meanwhile, and this with it.
            if let Some(due) = connection.owed.find(|due| is_his(&due.answer)) {
                due.answer = answer;
                self.advance(id, counts);
            }
        }
    }
}
