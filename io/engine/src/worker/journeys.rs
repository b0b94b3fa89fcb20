//! Sessions that stand somewhere in a journey: what they do next.

use wavetank_driver::Driver;
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_plan::{Nanos, OnFailure};

use super::Worker;
use crate::offered::{Offered, Owner};
use crate::resolved::{Answered, Resolved, Told};
use crate::sessions::{Ended, Wants, Whose};
use crate::slab::Id;

impl<D: Driver> Worker<D> {
    /// Session `id` is ready at `at`: its next request is offered, or it waits, or it ends.
    pub(super) fn go_on(&mut self, id: Id, at: Nanos) {
        while let Some(wants) = self.sessions.advance(id, at) {
            match wants {
                Wants::Request(key) => {
                    let offered = Offered { key, intended: at, owner: Owner::Session(id.place() as u32) };
                    self.rec.offered(key);
                    self.pacer.ready.push_back(offered);
                    return;
                }
                Wants::Nothing => return,
                // Nobody is waited for yet: no command runs a plan in which users meet.
                Wants::Others(_) => {}
                Wants::End(ended) => return self.session_ended(ended, at),
            }
        }
    }

    /// Take in all that connections have told, where sessions look at their answers.
    #[cold]
    pub(super) fn settle_sessions(&mut self) {
        while let Some(told) = self.exchanges.poll_told(&mut self.rec) {
            match told {
                Told::Resolved(resolved) => self.resolved(resolved),
                Told::Answered(answered) => self.answered(&answered),
            }
        }
    }

    /// `arrival`, or the next end of a pause if that is earlier.
    #[cold]
    pub(super) fn earlier_pause_end(&mut self, arrival: Option<Nanos>) -> Option<Nanos> {
        [arrival, self.sessions.next_pause_end()].into_iter().flatten().min()
    }

    /// Sessions that have paused long enough go on. Whether there were any.
    pub(super) fn end_pauses(&mut self, now: Nanos) -> bool {
        for number in 0..WORK_PER_TURN_MAX {
            let Some((at, id)) = self.sessions.take_ready(now) else { return number > 0 };
            self.go_on(id, at);
        }
        true
    }

    /// Take up a session's request.
    pub(super) fn begin_of_session(&mut self, place: u32, offered: Offered, now: Nanos) {
        let Some(id) = self.sessions.at(place) else { return };
        let seat = self.sessions.user(id).map(|user| self.users.seat(user));
        let sessions = &mut self.sessions;
        let write = |letter: &mut crate::letters::Letter| sessions.write(id, now, letter);
        if let Some(resolved) = self.exchanges.begin_written(offered, seat, now, &mut self.rec, write) {
            self.resolved_of_session(place, resolved);
        }
    }

    /// An answer came to a session's request: it looks at it, and goes on.
    pub(super) fn answered(&mut self, answered: &Answered) {
        let letter = self.exchanges.connections.letters.of(answered.exchange);
        let judged = self.sessions.judge(answered, letter, &mut self.rec);
        if let Some(resolved) = self.exchanges.conclude(answered, judged, &mut self.rec) {
            self.resolved_of_session(answered.session, resolved);
        }
    }

    /// A request of session `id` came to its end. After one that was done it goes on at once, like a user.
    pub(super) fn resolved_of_session(&mut self, place: u32, resolved: Resolved) {
        let Some(id) = self.sessions.at(place) else { return };
        if !resolved.done {
            match self.sessions.failed(id, resolved.unwritten) {
                OnFailure::Continue => {}
                OnFailure::EndSession | OnFailure::EndRun => {
                    if let Some(ended) = self.sessions.cut_short(id) {
                        self.session_ended(ended, resolved.at);
                    }
                    return;
                }
            }
        }
        let alone = self.pacer.ready.is_empty();
        self.go_on(id, resolved.at);
        if resolved.done
            && alone
            && self.pacer.ready.len() == 1
            && let Some(offered) = self.pacer.ready.pop_front()
        {
            let now = self.exchanges.connections.fresh(resolved.at);
            self.begin(offered, now);
        }
    }

    fn session_ended(&mut self, ended: Ended, at: Nanos) {
        match ended.whose {
            Whose::Arrival => self.exchanges.give_back(ended.key.phase),
            // One that did nothing could go on doing nothing for ever, without anybody else having a turn.
            Whose::User(user) if ended.idle => self.exchanges.pause(Owner::User(user), at),
            // As soon as there is what he sends on, the connection says so.
            Whose::User(user) if self.users.any_holds() && self.must_wait(user) => {}
            Whose::User(user) => {
                self.iterate(user, at);
            }
        }
    }
}
