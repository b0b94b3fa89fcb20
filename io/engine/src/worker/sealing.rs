//! Sealing intervals, and handing them over.

use wavetank_driver::Driver;
use wavetank_units::Nanos;

use super::{Stage, Worker};
use crate::messages::{Message, SealedInterval};

impl<D: Driver> Worker<D> {
    /// Seals every interval that is over at `now`, each after all its arrivals were offered.
    /// Returns whether there was one.
    ///
    /// This is the only work of a turn without a limit, because a sealed second must be complete.
    pub(super) fn seal_until(&mut self, now: Nanos) -> bool {
        let any = self.seal_at <= now;
        while self.seal_at <= now {
            while let Some(due) = self.pacer.pop_due(self.seal_at) {
                self.offer(due);
            }
            let at = self.seal_at;
            self.seal(at);
            self.allow_due_connections(at);
            self.seal_at = self.pacer.interval_end(at);
        }
        any
    }

    fn seal(&mut self, at: Nanos) {
        let under_way = (self.exchanges.len() + self.pacer.ready.len()) as u64;
        let open = self.rec.open_requests();
        let accounting =
            (under_way != open).then(|| format!("{under_way} requests in flight, counted as open: {open}"));
        let (walking, counted) = (self.sessions.open(), self.rec.open_sessions());
        let accounting = accounting.or_else(|| {
            (walking != counted)
                .then(|| format!("{walking} sessions in progress, counted as open: {counted}"))
        });
        let accounting = match self.outbox.take_lost() {
            0 => accounting,
            lost => Some(format!("{lost} intervals were lost because they were not collected in time")),
        };
        let sealed = self.sealed(at, accounting);
        self.outbox.send(sealed);
    }

    /// Returns the interval that ends at `at`, on the run's clock.
    pub(super) fn sealed(&mut self, at: Nanos, accounting: Option<String>) -> Message {
        self.rec.set_bytes_sent(self.exchanges.connections.driver.bytes_sent());
        self.rec.set_packets(self.exchanges.connections.driver.packets());
        self.rec.send_call(self.exchanges.connections.driver.take_longest_send());
        let mut interval = self.rec.seal(at);
        interval.from = self.pacer.to_run_time(interval.from);
        interval.journeys.shift(|at| self.pacer.to_run_time(at));
        let mut samples = self.exchanges.take_samples();
        for sample in &mut samples {
            sample.at = self.pacer.to_run_time(sample.at);
        }
        let (mut logs, logs_untold) = self.logs.take();
        for line in &mut logs {
            line.at = self.pacer.to_run_time(line.at);
        }
        let mut slow = self.rec.take_slowest();
        for slow in &mut slow {
            slow.times.intended = self.pacer.to_run_time(slow.times.intended);
        }
        Message::Sealed(Box::new(SealedInterval { interval, samples, logs, logs_untold, slow, accounting }))
    }

    /// Reports once that no requests will follow and none is in flight.
    pub(super) fn check_drained(&mut self, now: Nanos) {
        // After an early end of the load, sessions without a request in flight are not waited for.
        let walking = if self.pacer.is_ended(now) { 0 } else { self.sessions.len() };
        let under_way = self.exchanges.len() + walking + self.pacer.ready.len();
        if self.stage != Stage::Running || under_way > 0 {
            return;
        }
        let more = self.pacer.next_due().is_some() || self.users.count() > 0;
        let over = !more && self.pacer.is_over(now, |phase| self.users.exhausted(phase));
        if over || (!more && self.pacer.is_ended(now)) {
            self.stage = Stage::Drained;
            let last = self.pacer.to_run_time(self.exchanges.resolved_last);
            self.outbox.send(Message::Drained(self.thread, last));
        }
    }
}
