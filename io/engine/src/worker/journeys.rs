//! The next actions of sessions within their journeys.

use wavetank_driver::Driver;
use wavetank_journey::{FollowUp, SessionEvent as Said};
use wavetank_plan::OnFailure;
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_units::Nanos;

use super::Worker;
use crate::completed::{CompletedRequest, ExchangeEvent, PendingVerdict};
use crate::messages::EndOfRun;
use crate::offered::{OfferedRequest, Owner};
use crate::sessions::{Ended, SessionNeed, SessionOwner, Verdict};
use crate::slab::Id;

/// The pause of a user after a session that did nothing at all.
const PAUSE: Nanos = Nanos::from_millis(10);

impl<D: Driver> Worker<D> {
    /// Advances session `id`, which is ready at `at`: its next request is offered, or it waits, or
    /// it ends.
    pub(super) fn advance_session(&mut self, id: Id, at: Nanos) {
        if let Some(wants) = self.sessions.advance(id, at) {
            if !self.sessions.events_mut().is_empty() {
                self.listen(at);
            }
            match wants {
                SessionNeed::Request(_) | SessionNeed::Nothing | SessionNeed::Others(_)
                    if self.pacer.is_ended(at) =>
                {
                    self.stop_here(id, at);
                }
                SessionNeed::Request(key) => {
                    let offered =
                        OfferedRequest { key, intended: at, owner: Owner::Session(id.index() as u32) };
                    self.rec.offered(key);
                    self.pacer.ready.push_back(offered);
                }
                SessionNeed::Nothing => self.let_leave(id),
                SessionNeed::Others(there) => {
                    self.wait_for_others(id, there, at);
                    self.let_leave(id);
                }
                SessionNeed::End(ended) => self.session_ended(ended, at),
            }
        }
    }

    /// Lets the user of session `id`, which waits now, leave if it is above the target number. The
    /// number may have dropped while its request was in flight. It leaves as if it had been waiting
    /// then.
    fn let_leave(&mut self, id: Id) {
        if let Some((_, SessionOwner::User(user))) = self.sessions.owner(id)
            && !self.users.is_active(user)
            && self.users.is_present(user)
        {
            self.retire([user]);
        }
    }

    /// Handles the events of a session.
    #[cold]
    fn listen(&mut self, at: Nanos) {
        let key = self.sessions.events_key();
        for said in self.sessions.events_mut().drain(..) {
            match said {
                Said::Group(group, from, until) => {
                    self.rec.group(key.phase, key.scenario, group, until.since(from));
                }
                Said::Log(text) => self.logs.add(key, at, &text),
            }
        }
    }

    /// Handles all events of connections, if sessions evaluate responses.
    ///
    /// After much work on responses it leaves the rest to the next turn, so that the thread looks
    /// at its sockets first.
    #[cold]
    pub(super) fn settle_sessions(&mut self) {
        while !self.own_work.is_long()
            && let Some(reported) = self.exchanges.poll_event(&mut self.rec)
        {
            match reported {
                ExchangeEvent::Resolved(resolved) => self.resolved(resolved),
                ExchangeEvent::Answered(answered) => self.answered(&answered),
            }
        }
    }

    /// Returns `arrival`, or the end of the next pause if that is earlier.
    #[cold]
    pub(super) fn earlier_pause_end(&mut self, arrival: Option<Nanos>) -> Option<Nanos> {
        let ends = [arrival, self.sessions.next_pause_end(), self.gathering.next_end()];
        ends.into_iter().flatten().min()
    }

    /// Handles the arrival of a session: it starts, or there is no room for it.
    #[cold]
    pub(super) fn session_arrives(&mut self, offered: OfferedRequest, number: u64) {
        let OfferedRequest { key, intended, .. } = offered;
        self.rec.session_offered(key.phase, key.scenario);
        match self.exchanges.has_room(key.phase) {
            Ok(()) => {
                self.rec.session_started(key.phase, key.scenario);
                let session = self.sessions.arrive(key, number, intended);
                self.advance_session(session, intended);
            }
            Err(reason) => self.rec.session_dropped(key.phase, key.scenario, reason),
        }
    }

    /// Handles session `id`, which would continue after the load was ended early. Its user leaves
    /// instead. A session of the open loop is cut and stays open (`docs/measuring.md` §6).
    #[cold]
    fn stop_here(&mut self, id: Id, at: Nanos) {
        let Some((_, SessionOwner::User(user))) = self.sessions.owner(id) else { return };
        let is_cut = self.cut_pause(user, at);
        // A user can come back during its last steps, which are not continued.
        if is_cut || self.sessions.runs_last_steps(user) {
            self.users.leave(user);
            self.rec.set_users(self.users.count());
        }
        if is_cut {
            self.on_user_left(user, at, true);
        }
    }

    /// Continues sessions with a pause, pace or rendezvous that is over. After an early end of the
    /// load, no end of a pause is waited for. Returns whether there were any.
    pub(super) fn resume_paused(&mut self, now: Nanos) -> bool {
        if self.pacer.is_ended(now) {
            self.retire_all();
        }
        let met = self.gathering.any() && self.end_meetings(now);
        let parked = self.end_parking(now);
        for number in 0..WORK_PER_TURN_MAX {
            let Some((at, id)) = self.sessions.take_ready(now) else { return met || parked || number > 0 };
            self.advance_session(id, at);
        }
        true
    }

    /// Starts a session's request.
    pub(super) fn begin_session_request(&mut self, index: u32, offered: OfferedRequest, now: Nanos) {
        let Some(id) = self.sessions.at(index) else { return };
        let via = self.slot_for_session(id, offered.key);
        let sessions = &mut self.sessions;
        let write = |buffer: &mut crate::exchange_buffers::ExchangeBuffer| sessions.write(id, now, buffer);
        if let Some(resolved) = self.exchanges.begin_rendered(offered, via, now, &mut self.rec, write) {
            self.on_session_response(index, resolved);
        }
    }

    /// Handles a response to a session's request: the session evaluates it and continues.
    pub(super) fn answered(&mut self, answered: &PendingVerdict) {
        let from = self.exchanges.connections.fresh(answered.at);
        let buffer = self.exchanges.connections.buffers.entry(answered.exchange);
        let verdict = self.sessions.evaluate(answered, buffer, &mut self.rec);
        let until = self.exchanges.connections.end_work();
        self.own_work.add(from, until);
        self.rec.evaluated(until.since(from));
        let came_to = match verdict {
            Verdict::Leg(leg) => {
                self.exchanges.add_own_work(answered.exchange, Nanos(until.since(answered.at) as i64));
                return self.lead_on(answered, &leg);
            }
            Verdict::Await => {
                self.exchanges.add_own_work(answered.exchange, Nanos(until.since(answered.at) as i64));
                if let Some(resolved) = self.exchanges.wait_on(answered, &mut self.rec) {
                    self.on_session_response(answered.session, resolved);
                }
                return;
            }
            Verdict::Over(status, judged) => (status, judged),
        };
        if let Some(resolved) = self.exchanges.conclude(answered, came_to, &mut self.rec) {
            self.on_session_response(answered.session, resolved);
        }
    }

    /// Sends one more message for a session's request.
    fn lead_on(&mut self, answered: &PendingVerdict, leg: &FollowUp) {
        let Some(id) = self.sessions.at(answered.session) else { return };
        let slot = self.allocate_slot(id, answered.key.scenario, leg.target);
        self.exchanges.send_follow_up(answered, leg, slot, &mut self.rec);
    }

    /// Handles the end of a request of the session at `index`. After a successful request it
    /// continues immediately, like a user.
    pub(super) fn on_session_response(&mut self, index: u32, resolved: CompletedRequest) {
        let Some(id) = self.sessions.at(index) else { return };
        if self.gathering.any() {
            self.record_rendezvous(id);
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
        self.advance_session(id, resolved.at);
        if resolved.done
            && alone
            && self.pacer.ready.len() == 1
            && let Some(offered) = self.pacer.ready.pop_front()
        {
            let now = self.exchanges.connections.fresh(resolved.at);
            self.begin(offered, now);
        }
    }

    /// Ends session `id` because of its last request, and the run with it, if required.
    #[cold]
    fn break_off(&mut self, id: Id, run: bool, resolved: CompletedRequest) {
        if run && let Some(failed) = self.sessions.last_request(id) {
            self.end_run(EndOfRun { scenario: failed.scenario, failed: Some(failed.step) });
        }
        match self.sessions.abort(id) {
            // A session that could not send must not start again immediately.
            Some(ended) => {
                self.session_ended(Ended { idle: ended.idle || resolved.unwritten, ..ended }, resolved.at);
            }
            None => self.advance_session(id, resolved.at),
        }
    }

    fn session_ended(&mut self, ended: Ended, at: Nanos) {
        if ended.run {
            self.end_run(EndOfRun { scenario: ended.key.scenario, failed: None });
        }
        if let Some(failed) = ended.failed {
            self.rec.session_ended(ended.key.phase, ended.key.scenario, failed);
        }
        self.release_slots(&ended, at);
        match ended.owner {
            SessionOwner::Arrival => self.exchanges.give_back(ended.key.phase),
            // The user has left, unless it was added again in the meantime.
            SessionOwner::User(user) if ended.failed.is_none() && !self.users.is_present(user) => {
                self.release(user, at);
            }
            // A session that did nothing could be repeated for ever, and no other session would get
            // a turn.
            SessionOwner::User(user) if ended.idle => self.sessions.park(user, at.after(PAUSE)),
            // The connection reports as soon as it is open.
            SessionOwner::User(user) if self.users.has_holding_users() && self.is_blocked(user) => {}
            SessionOwner::User(user) => self.next_session(user, at),
        }
    }
}
