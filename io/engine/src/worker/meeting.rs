//! Sessions that wait for each other, on this thread and on others.

use wavetank_driver::Driver;
use wavetank_measure::Meeting;
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_plan::{Nanos, Rendezvous};

use super::Worker;
use crate::meeting_places::{Company, Of};
use crate::sessions::{Met, Whose};
use crate::slab::Id;

impl<D: Driver> Worker<D> {
    /// Session `id` has come to a rendezvous at `at`.
    pub(super) fn wait_for_others(&mut self, id: Id, there: Rendezvous, at: Nanos) {
        let Some((key, whose)) = self.sessions.whose(id) else { return };
        let track = match whose {
            Whose::User(user) => Some(self.users.number(user).0),
            Whose::Arrival => None,
        };
        let of = match (there.of, track) {
            (Some(number), _) => Of::Number(number),
            (None, Some(track)) => Of::Everybody(self.users.phase_at(track, self.pacer.on_run_clock(at))),
            (None, None) => Of::Unknown,
        };
        let company = Company { phase: key.phase, of };
        let spot = self.gathering.places.spot(there.place, track, there.of.is_none());
        let waiting = self.gathering.arrive(id, spot, company, there.wait, at);
        self.sessions.waits(id, waiting);
    }

    /// Those who waited long enough, or for everybody they wanted, go on. Whether there were any.
    pub(super) fn end_meetings(&mut self, now: Nanos) -> bool {
        for number in 0..WORK_PER_TURN_MAX {
            let Some((group, gone)) = self.gathering.take_gone(now) else { return number > 0 };
            let places = &self.gathering.places;
            let (place, number) = (places.place_of(group.waiting.spot), places.number(group.waiting));
            let left = Met::Left { phase: gone.phase, place, number };
            let present = self.sessions.go_together(&group.sessions, gone.at, left);
            if present > 0 {
                let (phase, of, by_wait) = (gone.phase, gone.of, gone.by_wait);
                self.rec.met(&Meeting { phase, place, number, of, present, by_wait, ..Meeting::default() });
            }
        }
        true
    }

    /// The request of session `id` that has come to its end may have been its first since it left others.
    pub(super) fn tell_of_meeting(&mut self, id: Id) {
        let sent = self.exchanges.take_sent();
        if let Some((phase, place, number)) = self.sessions.take_left(id)
            && let Some(sent) = sent
        {
            self.rec.met_sent(phase, place, number, sent);
        }
    }

    /// `user` is there at `at`, perhaps again: others may wait for him.
    #[inline]
    pub(super) fn count_in(&mut self, user: u32, at: Nanos) {
        if self.gathering.cares() {
            let (track, number) = self.users.number(user);
            let phase = self.users.phase_at(track, self.pacer.on_run_clock(at));
            let scenario = self.users.scenario_of(user);
            self.gathering.come(user, number, (track, phase, scenario), at);
        }
    }

    /// `user` has left at `at`: nobody waits for him any more.
    #[inline]
    pub(super) fn count_out(&mut self, user: u32, at: Nanos) {
        if self.gathering.cares() {
            let (track, number) = self.users.number(user);
            let phase = self.users.phase_at(track, self.pacer.on_run_clock(at));
            let scenario = self.users.scenario_of(user);
            self.gathering.leave(user, number, (track, phase, scenario), at);
        }
    }

    /// Another phase of a track begins at `at`: who is everybody may have changed.
    pub(super) fn others_wanted(&self, track: u16, at: Nanos) {
        if self.gathering.cares() {
            let phase = self.users.phase_at(track, self.pacer.on_run_clock(at));
            self.gathering.places.phase_begins(track, phase, at);
        }
    }
}
