//! Sealing intervals, and handing them over.

use wavetank_driver::Driver;
use wavetank_plan::Nanos;

use super::{Stage, Worker};
use crate::messages::{Message, SealedInterval};

impl<D: Driver> Worker<D> {
    /// Seal every interval that is over at `now`, each after all its arrivals were offered: the one work of a
    /// turn that has no bound, because a sealed second must be whole. Whether there was one.
    pub(super) fn seal_until(&mut self, now: Nanos) -> bool {
        let any = self.seal_at <= now;
        while self.seal_at <= now {
            while let Some(due) = self.pacer.pop_arrival(self.seal_at) {
                self.offer(due);
            }
            let at = self.seal_at;
            self.seal(at);
            self.seal_at = self.pacer.interval_end(at);
        }
        any
    }

    fn seal(&mut self, at: Nanos) {
        let under_way = (self.exchanges.len() + self.pacer.ready.len()) as u64;
        let open = self.rec.open_requests();
        let accounting =
            (under_way != open).then(|| format!("{under_way} requests under way, counted as open: {open}"));
        let (walking, told) = (self.sessions.open(), self.rec.open_sessions());
        let accounting = accounting.or_else(|| {
            (walking != told).then(|| format!("{walking} sessions under way, counted as open: {told}"))
        });
        let accounting = match self.outbox.take_lost() {
            0 => accounting,
            lost => Some(format!("{lost} intervals were lost because nobody took them")),
        };
        let sealed = self.sealed(at, accounting);
        self.outbox.send(sealed);
    }

    /// The interval that ends at `at`, on the run's clock.
    pub(super) fn sealed(&mut self, at: Nanos, accounting: Option<String>) -> Message {
        self.rec.set_bytes_sent(self.exchanges.connections.driver.bytes_sent());
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

    /// Tell once that nothing follows and nothing is under way.
    pub(super) fn check_drained(&mut self, now: Nanos) {
        // Once the load was ended before its time, a session that sends nothing is not waited for.
        let walking = if self.pacer.is_ended(now) { 0 } else { self.sessions.len() };
        let under_way = self.exchanges.len() + walking + self.pacer.ready.len();
        if self.stage != Stage::Running || under_way > 0 {
            return;
        }
        let more = self.pacer.next_arrival().is_some() || self.users.count() > 0;
        let over = !more && self.pacer.is_over(now, |phase| self.users.exhausted(phase));
        if over || (!more && self.pacer.is_ended(now)) {
            self.stage = Stage::Drained;
            let last = self.pacer.to_run_time(self.exchanges.resolved_last);
            self.outbox.send(Message::Drained(self.thread, last));
        }
    }
}
