//! Commands to a load thread, and its end.

use std::sync::mpsc::TryRecvError;

use wavetank_driver::Driver;
use wavetank_plan::LoadChange;
use wavetank_units::Nanos;

use super::Worker;
use super::own_work::OwnWork;
use crate::connection_demand::ConnectionDemand;
use crate::messages::{Command, Message};
use crate::new_share::NewShare;

impl<D: Driver> Worker<D> {
    /// The sender of a command also wakes the driver.
    pub(super) fn take_commands(&mut self) {
        loop {
            match self.commands.try_recv() {
                Ok(Command::Start(zero)) => self.start(zero),
                Ok(Command::Change { at, phase, change }) => match change {
                    LoadChange::Rate(rate) => self.pacer.change_rate(phase, at, rate),
                    LoadChange::Users(count) | LoadChange::Connections(count) => {
                        if let Some(track) = self.users.track_with(phase) {
                            self.pacer.change_users(track, at, count);
                        }
                    }
                },
                Ok(Command::TakeShare(new)) => self.take_share(&new),
                Ok(Command::Drain(at)) => self.pacer.cut_off_at(self.pacer.to_thread_time(at)),
                Ok(Command::UpdateAddresses(ways)) => self.exchanges.connections.update_addresses(&ways),
                Ok(Command::Finish(at)) => self.finish_at = Some(self.pacer.to_thread_time(at)),
                Err(TryRecvError::Disconnected) => return self.finish_at = Some(self.now()),
                Err(TryRecvError::Empty) => return,
            }
        }
    }

    /// Replaces the share of this thread in the phases that start later.
    fn take_share(&mut self, new: &NewShare) {
        let share = new.of_thread(self.thread);
        self.pacer.take_share(&self.plan, share, new.from());
        for (phase, budget) in new.max_open(&self.plan, self.thread) {
            self.exchanges.set_max_open(phase, budget);
        }
        let shared = ConnectionDemand::for_plan(&self.plan).shared;
        let more = share.count_below(shared).saturating_sub(self.share.count_below(shared));
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        let from = self.pacer.to_thread_time(new.from());
        // The current phase keeps its number of connections. Those of a share that has not started
        // yet are part of the new one.
        let (from, more) = match self.connections_due {
            Some((earlier, due)) => (earlier.min(from), due.saturating_add(more)),
            None => (from, more),
        };
        self.connections_due = (more > 0).then_some((from, more));
        self.share = share;
    }

    /// Allows the connections of a share that has started at `now`.
    pub(super) fn allow_due_connections(&mut self, now: Nanos) {
        if let Some((_, more)) = self.connections_due.take_if(|(from, _)| *from <= now) {
            self.exchanges.connections.allow_more(more);
        }
    }

    /// Seals the rest and sends the final messages.
    pub(super) fn end(mut self) {
        // A second may have been sealed while the command was being delivered.
        let now = self.finish_at.unwrap_or_else(|| self.now()).max(self.rec.interval_start());
        self.seal_until(now);
        while self.sessions.has_multi_step() && !self.exchanges.connections.outcomes.is_empty() {
            self.own_work = OwnWork::default();
            self.drain_outcomes();
        }
        while let Some(due) = self.pacer.pop_due(now) {
            self.offer(due);
        }
        for offered in self.pacer.ready.drain(..) {
            self.rec.left_open(offered.key, now.since(offered.intended));
        }
        let sessions = &mut self.sessions;
        self.exchanges.end_run(now, &mut self.rec, |rec, index, sent| {
            if let Some((phase, place, number)) = sessions.at(index).and_then(|id| sessions.take_left(id)) {
                rec.rendezvous_sent(phase, place, number, sent);
            }
        });
        let sealed = self.sealed(now, None);
        self.outbox.close([sealed, Message::Finished(self.thread)]);
    }
}
