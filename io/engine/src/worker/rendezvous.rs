//! Sessions that wait for each other, on this thread and on others.

use wavetank_driver::Driver;
use wavetank_measure::RendezvousRelease;
use wavetank_plan::Rendezvous;
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_units::Nanos;

use super::Worker;
use crate::rendezvous::{Quorum, QuorumSize};
use crate::sessions::{RendezvousState, SessionOwner};
use crate::slab::Id;

impl<D: Driver> Worker<D> {
    /// Handles session `id`, which has reached a rendezvous at `at`.
    pub(super) fn wait_for_others(&mut self, id: Id, there: Rendezvous, at: Nanos) {
        let Some((key, owner)) = self.sessions.owner(id) else { return };
        let track = match owner {
            SessionOwner::User(user) => Some(self.users.number(user).0),
            SessionOwner::Arrival => None,
        };
        let of = match (there.of, track) {
            (Some(number), _) => QuorumSize::Number(number),
            (None, Some(track)) => {
                QuorumSize::Everybody(self.users.phase_at(track, self.pacer.to_run_time(at)))
            }
            (None, None) => QuorumSize::Unknown,
        };
        let company = Quorum { phase: key.phase, of };
        let spot = self.gathering.table.point_index(there.place, track, there.of.is_none());
        let waiting = self.gathering.arrive(id, spot, company, there.wait, at);
        self.sessions.waits(id, waiting);
    }

    /// Releases sessions with a complete or timed-out rendezvous. Returns whether there were any.
    pub(super) fn end_meetings(&mut self, now: Nanos) -> bool {
        for number in 0..WORK_PER_TURN_MAX {
            let Some((group, gone)) = self.gathering.pop_released(now) else { return number > 0 };
            let table = &self.gathering.table;
            let spot = group.waiting.spot;
            let (place, number) = (table.rendezvous_index(spot), table.number(spot, gone.round));
            let left = RendezvousState::Left { phase: gone.phase, place, number };
            let present = self.sessions.release(&group.sessions, gone.at, left);
            if present > 0 {
                let (phase, of, by_wait) = (gone.phase, gone.of, gone.by_wait);
                self.rec.rendezvous_released(&RendezvousRelease {
                    phase,
                    place,
                    number,
                    of,
                    present,
                    by_wait,
                    ..RendezvousRelease::default()
                });
            }
        }
        true
    }

    /// Records the first request of session `id` since it left a rendezvous, if the request that
    /// ended is the first.
    pub(super) fn record_rendezvous(&mut self, id: Id) {
        let sent = self.exchanges.take_sent();
        if let Some((phase, place, number)) = self.sessions.take_left(id)
            && let Some(sent) = sent
        {
            self.rec.rendezvous_sent(phase, place, number, sent);
        }
    }

    /// Records that `user` is present at `at`, possibly again, so that others may wait for it.
    #[inline]
    pub(super) fn mark_present(&mut self, user: u32, at: Nanos) {
        if self.gathering.tracks_departures() {
            let (track, number) = self.users.number(user);
            let phase = self.users.phase_at(track, self.pacer.to_run_time(at));
            let scenario = self.users.scenario_of(user);
            self.gathering.rejoin(user, number, (track, phase, scenario), at);
        }
    }

    /// Records that `user` has left at `at`, so that others no longer wait for it.
    #[inline]
    pub(super) fn mark_left(&mut self, user: u32, at: Nanos) {
        if self.gathering.tracks_departures() {
            let (track, number) = self.users.number(user);
            let phase = self.users.phase_at(track, self.pacer.to_run_time(at));
            let scenario = self.users.scenario_of(user);
            self.gathering.leave(user, number, (track, phase, scenario), at);
        }
    }

    /// Handles the start of another phase of a track at `at`, which may change the users that are
    /// waited for.
    pub(super) fn on_phase_change(&self, track: u16, at: Nanos) {
        if self.gathering.tracks_departures() {
            let phase = self.users.phase_at(track, self.pacer.to_run_time(at));
            self.gathering.table.phase_begins(track, phase, at);
        }
    }
}
