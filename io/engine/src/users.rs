//! [`Users`]: virtual users, each of which sends after its last response, and users that hold a
//! connection.

use wavetank_pace::{Partition, WeightedScenarios};
use wavetank_plan::{ConnectionOwner, Key, Plan};
use wavetank_units::Nanos;

use crate::budget::Budget;

/// The users of one load thread.
///
/// Each belongs to a track, that is, the phases through which it carries over. It is identified by
/// a number of the thread. The numbers of a track follow those of the previous track.
pub(crate) struct Users {
    tracks: Vec<Track>,
    /// Whether the user is present, by number.
    present: Vec<bool>,
    /// Sessions that each has started in its current phase; empty if no phase counts them.
    sessions: Vec<(u16, u32)>,
    count: u64,
    /// Sessions left to start, per phase, where counted.
    budgets: Vec<Option<Budget>>,
    /// Whether the counted sessions of a phase are used up.
    used_up: Vec<bool>,
    any_holds: bool,
}

/// The users of one track.
struct Track {
    /// The numbers of its first user, and of the first user after it.
    first: u32,
    end: u32,
    /// The slot of its first user.
    first_slot: u32,
    /// Users on one connection.
    users_per_slot: u32,
    /// Its users have no slots: all of them share connections.
    shared: bool,
    /// Users from this ordinal on leave after their current request.
    wanted: u64,
    /// Whether its users hold connections.
    hold: bool,
    stays: Vec<PhaseSpan>,
    /// The users of the run that belong to this thread.
    share: Partition,
    scenario: WeightedScenarios,
}

/// A phase of a track.
struct PhaseSpan {
    phase: u16,
    start: Nanos,
    end: Nanos,
    sessions_each: Option<u64>,
}

/// The next action of a user that is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserAction {
    /// Starts its next session, counted under this key.
    Session(Key),
    /// Leaves, because the target number is lower, or because it has run its sessions. Other users
    /// continue.
    Leave,
    /// Leaves, because no further phase of the track is planned.
    Over,
    /// Leaves, because all counted sessions have started.
    UsedUp,
}

impl Users {
    /// Creates the users of `share` of `plan`. `budgets` limits the sessions that may start in each
    /// phase.
    pub(crate) fn new(plan: &Plan, share: Partition, budgets: Vec<Option<Budget>>) -> Self {
        let (mut tracks, mut users) = (Vec::new(), 0_u32);
        let first_slots = Self::first_slots(plan, share);
        for (number, track) in (0_u16..).zip(plan.tracks()) {
            let users_per_slot = users_per_slot(plan, &track);
            let first_slot = first_slots[usize::from(number)];
            let end = users.saturating_add(slot_count(plan, &track, share).saturating_mul(users_per_slot));
            let stay = |&phase: &u16| {
                let known = &plan.phases[usize::from(phase)];
                let sessions_each = known.load.sessions_each();
                PhaseSpan { phase, start: known.start, end: known.end().unwrap_or(Nanos::MAX), sessions_each }
            };
            tracks.push(Track {
                first: users,
                end,
                first_slot,
                users_per_slot,
                shared: is_shared(plan, &track),
                wanted: 0,
                hold: track.hold,
                stays: track.phases.iter().map(stay).collect(),
                share: Self::share(plan, &track, share),
                scenario: WeightedScenarios::for_users(&track.mix, plan.seed, number),
            });
            users = end;
        }
        let counted = tracks.iter().flat_map(|track| &track.stays).any(|stay| stay.sessions_each.is_some());
        Self {
            present: vec![false; users as usize],
            sessions: if counted { vec![(0, 0); users as usize] } else { Vec::new() },
            count: 0,
            used_up: vec![false; budgets.len()],
            any_holds: tracks.iter().any(|track| track.hold),
            budgets,
            tracks,
        }
    }

    /// Returns the first slot of each track's users in `share`, and at the end the first slot
    /// without a permanent owner.
    pub(crate) fn first_slots(plan: &Plan, share: Partition) -> Vec<u32> {
        let mut all = vec![0_u32];
        for track in plan.tracks() {
            let slots = if is_shared(plan, &track) { 0 } else { slot_count(plan, &track, share) };
            let last = all[all.len() - 1];
            all.push(last.saturating_add(slots));
        }
        all
    }

    /// Returns which users of a track belong to a thread that owns `share` of everything: those on
    /// its connections.
    pub(crate) fn share(plan: &Plan, track: &wavetank_plan::Track, share: Partition) -> Partition {
        by_connection(share, per_connection(plan, track))
    }

    /// Returns the users that join a track at a phase's start or at a higher target number: all
    /// below the target number that are not present.
    pub(crate) fn join(&mut self, track: u16) -> Vec<u32> {
        let Track { first, wanted, .. } = self.tracks[usize::from(track)];
        let wanted = first..first + wanted as u32;
        let present = &mut self.present;
        let joined: Vec<u32> =
            wanted.filter(|&user| !std::mem::replace(&mut present[user as usize], true)).collect();
        self.count += joined.len() as u64;
        joined
    }

    /// Returns the user that joins when the target number rises by one; `None` if it is present.
    pub(crate) fn join_last(&mut self, track: u16) -> Option<u32> {
        let track = &self.tracks[usize::from(track)];
        let user = track.first + track.wanted.checked_sub(1)? as u32;
        if std::mem::replace(&mut self.present[user as usize], true) {
            return None;
        }
        self.count += 1;
        Some(user)
    }

    /// Sets the target number of a track's users, and returns the previous one.
    pub(crate) fn set_wanted(&mut self, track: u16, users: u64) -> u64 {
        let track = &mut self.tracks[usize::from(track)];
        std::mem::replace(&mut track.wanted, users.min(u64::from(track.end - track.first)))
    }

    /// Returns the track that phase number `phase` belongs to.
    pub(crate) fn track_with(&self, phase: u16) -> Option<u16> {
        let has = |track: &Track| track.stays.iter().any(|stay| stay.phase == phase);
        self.tracks.iter().position(has).and_then(|track| u16::try_from(track).ok())
    }

    /// Returns the track of user `user`, and its number within the whole track.
    pub(crate) fn number(&self, user: u32) -> (u16, u64) {
        let at = self.track_of(user);
        let track = &self.tracks[at];
        (at as u16, track.share.nth(u64::from(user - track.first)))
    }

    /// Returns the phase of a track that is active at `at`. Before the first phase it returns the
    /// first, after the last the last.
    pub(crate) fn phase_at(&self, track: u16, at: Nanos) -> u16 {
        let stays = &self.tracks[usize::from(track)].stays;
        let begun = stays.partition_point(|stay| stay.start <= at);
        stays[begun.saturating_sub(1)].phase
    }

    /// The number of users present.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the slot of a user that has one.
    #[inline]
    pub(crate) fn slot(&self, user: u32) -> u32 {
        let track = &self.tracks[self.track_of(user)];
        track.first_slot + (user - track.first) / track.users_per_slot
    }

    #[inline]
    fn track_of(&self, user: u32) -> usize {
        let mut track = 0;
        while user >= self.tracks[track].end {
            track += 1;
        }
        track
    }

    /// Returns the next action of `user`, which is ready at `at`.
    #[inline]
    pub(crate) fn next(&mut self, user: u32, at: Nanos) -> UserAction {
        let next = self.find_next(user, at);
        if !matches!(next, UserAction::Session(_)) {
            self.leave(user);
        }
        next
    }

    #[inline]
    fn find_next(&mut self, user: u32, at: Nanos) -> UserAction {
        let track = &self.tracks[self.track_of(user)];
        let ordinal = u64::from(user - track.first);
        let Some(stay) = track.stay_at(at) else { return UserAction::Over };
        if ordinal >= track.wanted {
            return UserAction::Leave;
        }
        let phase = usize::from(stay.phase);
        if let Some(most) = stay.sessions_each {
            let (of, started) = &mut self.sessions[user as usize];
            // Phases are counted from 1 here, so that 0 means no phase yet.
            if std::mem::replace(of, stay.phase + 1) != stay.phase + 1 {
                *started = 0;
            }
            if u64::from(*started) >= most {
                self.used_up[phase] = true;
                return UserAction::Leave;
            }
            *started += 1;
        }
        if !self.budgets[phase].as_mut().is_none_or(Budget::take) {
            self.used_up[phase] = true;
            return UserAction::UsedUp;
        }
        let scenario = track.scenario.pick(|| track.share.nth(ordinal));
        UserAction::Session(Key { phase: stay.phase, scenario, step: 0 })
    }

    /// Returns the present users from the target number up to `before`, the last to start first.
    pub(crate) fn surplus(&self, track: u16, before: u64) -> Vec<u32> {
        let Track { first, wanted, .. } = self.tracks[usize::from(track)];
        let users = first + wanted as u32..first + before as u32;
        users.rev().filter(|&user| self.is_present(user)).collect()
    }

    /// Sets the target number of a track to zero and returns its present users.
    pub(crate) fn end_track(&mut self, track: u16) -> Vec<u32> {
        let before = self.set_wanted(track, 0);
        self.surplus(track, before)
    }

    /// Ends all holding of connections and returns the users that hold one.
    pub(crate) fn end_holding(&mut self) -> Vec<u32> {
        let holding = (0_u16..).zip(&self.tracks).filter(|(_, track)| track.hold).map(|(number, _)| number);
        let holding: Vec<u16> = holding.collect();
        holding.into_iter().flat_map(|track| self.end_track(track)).collect()
    }

    /// Sets all target numbers to zero and returns the present users.
    pub(crate) fn end_all(&mut self) -> Vec<u32> {
        (0..self.tracks.len() as u16).flat_map(|track| self.end_track(track)).collect()
    }

    /// Whether the users of a track hold connections.
    pub(crate) fn is_hold(&self, track: u16) -> bool {
        self.tracks[usize::from(track)].hold
    }

    /// Whether any user holds a connection in any phase.
    #[inline]
    pub(crate) const fn has_holding_users(&self) -> bool {
        self.any_holds
    }

    /// Whether this user holds a connection.
    pub(crate) fn holds(&self, user: u32) -> bool {
        self.tracks[self.track_of(user)].hold
    }

    /// Returns the user that holds the connection on `slot`.
    pub(crate) fn holder(&self, slot: u32) -> Option<u32> {
        let track = self.tracks.iter().find(|track| track.hold && track.slots().contains(&slot))?;
        Some(track.first + (slot - track.first_slot))
    }

    /// Returns the first user on this slot.
    pub(crate) fn first_on_slot(&self, slot: u32) -> Option<u32> {
        let track = self.tracks.iter().find(|track| !track.shared && track.slots().contains(&slot))?;
        Some(track.first + (slot - track.first_slot) * track.users_per_slot)
    }

    /// Returns the slot of a user that has left, if no other user is on it.
    pub(crate) fn vacate_slot(&self, user: u32) -> Option<u32> {
        let track = &self.tracks[self.track_of(user)];
        if track.shared {
            return None;
        }
        let on_slot = (user - track.first) / track.users_per_slot * track.users_per_slot + track.first;
        let mut on_it = on_slot..on_slot + track.users_per_slot;
        (!on_it.any(|user| self.is_present(user))).then(|| self.slot(user))
    }

    /// Whether the user is present.
    pub(crate) fn is_present(&self, user: u32) -> bool {
        self.present[user as usize]
    }

    /// Whether the user is below the target number.
    pub(crate) fn is_active(&self, user: u32) -> bool {
        let track = &self.tracks[self.track_of(user)];
        u64::from(user - track.first) < track.wanted
    }

    /// Returns the phase of a user's track that is active at `at`.
    pub(crate) fn phase_of(&self, user: u32, at: Nanos) -> Option<u16> {
        self.tracks[self.track_of(user)].stay_at(at).map(|stay| stay.phase)
    }

    /// Returns the scenario of a user.
    pub(crate) fn scenario_of(&self, user: u32) -> u16 {
        let track = &self.tracks[self.track_of(user)];
        track.scenario.pick(|| track.share.nth(u64::from(user - track.first)))
    }

    /// Whether all counted sessions of `phase` have started.
    pub(crate) fn exhausted(&self, phase: usize) -> bool {
        self.used_up[phase]
    }

    /// Removes `user`.
    pub(crate) fn leave(&mut self, user: u32) {
        if std::mem::replace(&mut self.present[user as usize], false) {
            self.count -= 1;
        }
    }
}

impl Track {
    fn slots(&self) -> std::ops::Range<u32> {
        self.first_slot..self.first_slot + (self.end - self.first) / self.users_per_slot
    }

    #[inline]
    fn stay_at(&self, at: Nanos) -> Option<&PhaseSpan> {
        self.stays.iter().find(|stay| stay.start <= at && at < stay.end)
    }
}

/// Users of a track with one slot.
fn users_per_slot(plan: &Plan, track: &wavetank_plan::Track) -> u32 {
    if plan.uses_tunnels() { 1 } else { per_connection(plan, track) }
}

/// Users of a track on one connection, which belong to one load thread.
fn per_connection(plan: &Plan, track: &wavetank_plan::Track) -> u32 {
    if track.hold || is_shared(plan, track) { 1 } else { plan.users_per_connection() }
}

/// Whether no user on a track has its own connection.
fn is_shared(plan: &Plan, track: &wavetank_plan::Track) -> bool {
    let shares = |scenario: u16| plan.scenarios[usize::from(scenario)].connection == ConnectionOwner::Shared;
    !track.hold && track.mix.parts().iter().all(|&(scenario, _)| shares(scenario))
}

/// Returns the number of slots for users of a track in `share`, each with `users_per_slot` users.
fn slot_count(plan: &Plan, track: &wavetank_plan::Track, share: Partition) -> u32 {
    let users = u64::from(per_connection(plan, track));
    let connections = share.count_below(track.most.div_ceil(users));
    let slots = users / u64::from(users_per_slot(plan, track));
    u32::try_from(connections.saturating_mul(slots)).unwrap_or(u32::MAX)
}

/// Returns the users on the connections that `share` owns.
fn by_connection(share: Partition, users: u32) -> Partition {
    let users = u64::from(users);
    Partition { first: share.first * users, width: share.width * users, of: share.of * users }
}
