//! Sessions that stand somewhere in a journey: what they do next.

use wavetank_driver::Driver;
use wavetank_journey::{Leg, Told as Said};
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_plan::{Nanos, OnFailure};

use super::Worker;
use crate::messages::EndOfRun;
use crate::offered::{Offered, Owner};
use crate::resolved::{Answered, Resolved, Told};
use crate::sessions::{Ended, Verdict, Wants, Whose};
use crate::slab::Id;

/// A user whose session could do nothing at all begins his next one after this time.
const PAUSE: Nanos = Nanos::from_millis(10);

impl<D: Driver> Worker<D> {
    /// Session `id` is ready at `at`: its next request is offered, or it waits, or it ends.
    pub(super) fn go_on(&mut self, id: Id, at: Nanos) {
        if let Some(wants) = self.sessions.advance(id, at) {
            if !self.sessions.said().is_empty() {
                self.listen(at);
            }
            match wants {
                Wants::Request(_) | Wants::Nothing | Wants::Others(_) if self.pacer.is_ended(at) => {
                    self.stop_here(id, at);
                }
                Wants::Request(key) => {
                    let offered = Offered { key, intended: at, owner: Owner::Session(id.place() as u32) };
                    self.rec.offered(key);
                    self.pacer.ready.push_back(offered);
                }
                Wants::Nothing => self.let_leave(id),
                Wants::Others(there) => {
                    self.wait_for_others(id, there, at);
                    self.let_leave(id);
                }
                Wants::End(ended) => self.session_ended(ended, at),
            }
        }
    }

    /// Session `id` waits now. Its user may have become too many while his request was under way: he leaves, as he would
    /// have if he had waited then.
    fn let_leave(&mut self, id: Id) {
        if let Some((_, Whose::User(user))) = self.sessions.whose(id)
            && !self.users.is_wanted(user)
            && self.users.is_present(user)
        {
            self.dismiss([user]);
        }
    }

    /// A session has said something on its way.
    #[cold]
    fn listen(&mut self, at: Nanos) {
        let key = self.sessions.speaker();
        for said in self.sessions.said().drain(..) {
            match said {
                Said::Group(group, from, until) => {
                    self.rec.group(key.phase, key.scenario, group, until.since(from));
                }
                Said::Log(text) => self.logs.add(key, at, &text),
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

    /// `arrival`, or the next instant at which somebody has paused long enough if that is earlier.
    #[cold]
    pub(super) fn earlier_pause_end(&mut self, arrival: Option<Nanos>) -> Option<Nanos> {
        let ends = [arrival, self.sessions.next_pause_end(), self.gathering.next_end()];
        ends.into_iter().flatten().min()
    }

    /// A session arrives: it begins, or there is no room for it.
    #[cold]
    pub(super) fn session_arrives(&mut self, offered: Offered, number: u64) {
        let Offered { key, intended, .. } = offered;
        self.rec.session_offered(key.phase, key.scenario);
        match self.exchanges.has_room(key.phase) {
            Ok(()) => {
                self.rec.session_started(key.phase, key.scenario);
                let session = self.sessions.arrive(key, number, intended);
                self.go_on(session, intended);
            }
            Err(reason) => self.rec.session_dropped(key.phase, key.scenario, reason),
        }
    }

    /// The load was ended before its time, and session `id` would go on: its user leaves instead. One that arrived on its
    /// own is cut where it stands, and stays open (contract §6).
    #[cold]
    fn stop_here(&mut self, id: Id, at: Nanos) {
        if let Some((_, Whose::User(user))) = self.sessions.whose(id)
            && self.cut_pause(user, at)
        {
            self.users.leave(user);
            self.rec.set_users(self.users.count());
            self.part_from(user, at, true);
        }
    }

    /// Whoever has paused, kept to a pace or waited for others long enough goes on; nobody waits for the end of a load
    /// that was ended before its time. Whether there were any.
    pub(super) fn go_on_after_pauses(&mut self, now: Nanos) -> bool {
        if self.pacer.is_ended(now) {
            self.dismiss_everybody();
        }
        let met = self.gathering.any() && self.end_meetings(now);
        let parked = self.end_parking(now);
        for number in 0..WORK_PER_TURN_MAX {
            let Some((at, id)) = self.sessions.take_ready(now) else { return met || parked || number > 0 };
            self.go_on(id, at);
        }
        true
    }

    /// Take up a session's request.
    pub(super) fn begin_of_session(&mut self, place: u32, offered: Offered, now: Nanos) {
        let Some(id) = self.sessions.at(place) else { return };
        let via = self.seat_for(id, offered.key);
        let sessions = &mut self.sessions;
        let write = |letter: &mut crate::letters::Letter| sessions.write(id, now, letter);
        if let Some(resolved) = self.exchanges.begin_written(offered, via, now, &mut self.rec, write) {
            self.resolved_of_session(place, resolved);
        }
    }

    /// An answer came to a session's request: it looks at it, and goes on.
    pub(super) fn answered(&mut self, answered: &Answered) {
        let letter = self.exchanges.connections.letters.of(answered.exchange);
        let came_to = match self.sessions.look(answered, letter, &mut self.rec) {
            Verdict::Leg(leg) => return self.lead_on(answered, &leg),
            Verdict::Over(status, judged) => (status, judged),
        };
        if let Some(resolved) = self.exchanges.conclude(answered, came_to, &mut self.rec) {
            self.resolved_of_session(answered.session, resolved);
        }
    }

    /// Something more goes out for a session's request.
    fn lead_on(&mut self, answered: &Answered, leg: &Leg) {
        let Some(id) = self.sessions.at(answered.session) else { return };
        let seat = self.seat_to(id, answered.key.scenario, leg.target);
        self.exchanges.lead_on(answered, leg, seat, &mut self.rec);
    }

    /// A request of session `id` came to its end. After one that was done it goes on at once, like a user.
    pub(super) fn resolved_of_session(&mut self, place: u32, resolved: Resolved) {
        let Some(id) = self.sessions.at(place) else { return };
        if self.gathering.any() {
            self.tell_of_meeting(id);
        }
        if !resolved.done {
            let on_failure = self.sessions.failed(id, resolved.unwritten);
            if on_failure != OnFailure::Continue {
                return self.break_off(id, on_failure == OnFailure::EndRun, resolved);
            }
        }
        if let Some(pause) = self.exchanges.take_pause() {
            return self.sessions.pause(id, resolved.at.after(pause));
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

    /// Session `id` ends for its last request, and the run with it, if so.
    #[cold]
    fn break_off(&mut self, id: Id, run: bool, resolved: Resolved) {
        if run && let Some(failed) = self.sessions.last_request(id) {
            self.end_run(EndOfRun { scenario: failed.scenario, failed: Some(failed.step) });
        }
        match self.sessions.break_off(id) {
            // One that could send nothing is no reason to come again at once.
            Some(ended) => {
                self.session_ended(Ended { idle: ended.idle || resolved.unwritten, ..ended }, resolved.at);
            }
            None => self.go_on(id, resolved.at),
        }
    }

    fn session_ended(&mut self, ended: Ended, at: Nanos) {
        if ended.run {
            self.end_run(EndOfRun { scenario: ended.key.scenario, failed: None });
        }
        if let Some(failed) = ended.failed {
            self.rec.session_ended(ended.key.phase, ended.key.scenario, failed);
        }
        self.leave_seats(&ended, at);
        match ended.whose {
            Whose::Arrival => self.exchanges.give_back(ended.key.phase),
            // He has gone, unless he was wanted again meanwhile.
            Whose::User(user) if ended.failed.is_none() && !self.users.is_present(user) => {
                self.release(user, at);
            }
            // One that did nothing could go on doing nothing for ever, without anybody else having a turn.
            Whose::User(user) if ended.idle => self.sessions.park(user, at.after(PAUSE)),
            // As soon as there is what he sends on, the connection says so.
            Whose::User(user) if self.users.any_holds() && self.must_wait(user) => {}
            Whose::User(user) => self.next_session(user, at),
        }
    }
}
