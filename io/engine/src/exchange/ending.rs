//! Requests that are still in flight when the run ends.

use wavetank_driver::Driver;
use wavetank_units::Nanos;

use super::Exchanges;
use crate::connections::ConnectionOutcome;
use crate::offered::Owner;
use crate::recorder::Recorder;

impl<D: Driver> Exchanges<D> {
    /// Ends the run at `at`. Unanswered requests stay open, with the time they waited. `sent_by`
    /// receives the requests of sessions that were sent, and when.
    pub(crate) fn end_run(
        &mut self,
        at: Nanos,
        rec: &mut Recorder,
        mut sent_by: impl FnMut(&mut Recorder, u32, Nanos),
    ) {
        self.connections.flush_all();
        while let Some(outcome) = self.connections.outcomes.pop_front() {
            if let ConnectionOutcome::Sent(exchange, at) = outcome {
                self.sent(exchange, at, rec);
            }
        }
        for exchange in self.slab.drain() {
            if let (Owner::Session(session), Some(sent)) = (exchange.offered.owner, exchange.sent) {
                sent_by(rec, session, sent);
            }
            rec.left_open(exchange.offered.key, at.since(exchange.offered.intended));
        }
        self.connections.close_all(rec);
    }
}
