//! [`Users`]: virtual users, each sending after its last answer, and those who hold a connection.

use wavetank_pace::{Partition, WeightedScenarios};
use wavetank_plan::{ConnectionOwner, Key, Nanos, Plan};

use crate::budget::Budget;

/// One load thread's users. Each belongs to a track: the phases through which he carries over. He is known by a number
/// of the thread: a track's users are numbered on from those of the track before.
pub(crate) struct Users {
    tracks: Vec<Track>,
    /// Present or not, by number.
    present: Vec<bool>,
    /// Sessions each has started in his present phase; empty where no phase counts them.
    sessions: Vec<(u16, u32)>,
    count: u64,
    /// Sessions left to start, per phase, where counted.
    budgets: Vec<Option<Budget>>,
    /// Phases in which none is left.
    used_up: Vec<bool>,
    any_holds: bool,
}

/// The users of one track.
struct Track {
    /// The number of the first of them, and of the first after them.
    first: u32,
    end: u32,
    /// The seat of the first.
    first_seat: u32,
    /// Users on one connection.
    per_seat: u32,
    /// They have no seats: all of them share connections.
    shared: bool,
    /// From this ordinal on they leave after the request under way.
    wanted: u64,
    /// Whether they hold connections.
    hold: bool,
    stays: Vec<PhaseSpan>,
    /// Which users of the run they are.
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

/// What a user who is ready does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserAction {
    /// His next session, counted under this.
    Session(Key),
    /// Leaves: fewer are wanted, or he has had his sessions. Others go on.
    Leave,
    /// Leaves, because nothing of the kind is planned any more.
    Over,
    /// Leaves, because all sessions that were counted out have started.
    UsedUp,
}

impl Users {
    /// The users of `share` of `plan`, of whom `budgets` many sessions may start in each phase.
    pub(crate) fn new(plan: &Plan, share: Partition, budgets: Vec<Option<Budget>>) -> Self {
        let (mut tracks, mut users) = (Vec::new(), 0_u32);
        let first_seats = Self::first_slots(plan, share);
        for (number, track) in (0_u16..).zip(plan.tracks()) {
            let per_seat = per_seat(plan, &track);
            let first_seat = first_seats[usize::from(number)];
            let end = users.saturating_add(places(plan, &track, share).saturating_mul(per_seat));
            let stay = |&phase: &u16| {
                let known = &plan.phases[usize::from(phase)];
                let sessions_each = known.load.sessions_each();
                PhaseSpan { phase, start: known.start, end: known.end().unwrap_or(Nanos::MAX), sessions_each }
            };
            tracks.push(Track {
                first: users,
                end,
                first_seat,
                per_seat,
                shared: is_shared(plan, &track),
                wanted: 0,
                hold: track.hold,
                stays: track.phases.iter().map(stay).collect(),
                share: by_seat(share, per_seat),
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

    /// The first seat of each track's users in `share`, and at the end the first that is nobody's own.
    pub(crate) fn first_slots(plan: &Plan, share: Partition) -> Vec<u32> {
        let mut all = vec![0_u32];
        for track in plan.tracks() {
            let seats = if is_shared(plan, &track) { 0 } else { places(plan, &track, share) };
            let last = all[all.len() - 1];
            all.push(last.saturating_add(seats));
        }
        all
    }

    /// Which users of a track belong to a thread that owns `share` of everything: those on its connections.
    pub(crate) fn share(plan: &Plan, track: &wavetank_plan::Track, share: Partition) -> Partition {
        by_seat(share, per_seat(plan, track))
    }

    /// Who joins a track at a phase's start, or when more are wanted: all of its wanted ones who are not there.
    pub(crate) fn join(&mut self, track: u16) -> Vec<u32> {
        let Track { first, wanted, .. } = self.tracks[usize::from(track)];
        let wanted = first..first + wanted as u32;
        let present = &mut self.present;
        let joined: Vec<u32> =
            wanted.filter(|&user| !std::mem::replace(&mut present[user as usize], true)).collect();
        self.count += joined.len() as u64;
        joined
    }

    /// One more is wanted, and it is this one; `None` if he is there.
    pub(crate) fn join_last(&mut self, track: u16) -> Option<u32> {
        let track = &self.tracks[usize::from(track)];
        let user = track.first + track.wanted.checked_sub(1)? as u32;
        if std::mem::replace(&mut self.present[user as usize], true) {
            return None;
        }
        self.count += 1;
        Some(user)
    }

    /// From now on so many of a track's are wanted. Returns how many it were.
    pub(crate) fn set_wanted(&mut self, track: u16, users: u64) -> u64 {
        let track = &mut self.tracks[usize::from(track)];
        std::mem::replace(&mut track.wanted, users.min(u64::from(track.end - track.first)))
    }

    /// The share that a number of users of a whole track means for this thread.
    pub(crate) fn local_share(&self, track: u16, users: u64) -> u64 {
        self.tracks[usize::from(track)].share.count_below(users)
    }

    /// The track of the closed model under way at `at`.
    pub(crate) fn closed_track_at(&self, at: Nanos) -> Option<u16> {
        let under_way = |track: &Track| !track.hold && track.stay_at(at).is_some();
        self.tracks.iter().position(under_way).and_then(|track| u16::try_from(track).ok())
    }

    /// Which track's user `user` is, and which one of all of it.
    pub(crate) fn number(&self, user: u32) -> (u16, u64) {
        let at = self.track_of(user);
        let track = &self.tracks[at];
        (at as u16, track.share.nth(u64::from(user - track.first)))
    }

    /// The phase of a track under way at `at`; before the first that one, after the last that one.
    pub(crate) fn phase_at(&self, track: u16, at: Nanos) -> u16 {
        let stays = &self.tracks[usize::from(track)].stays;
        let begun = stays.partition_point(|stay| stay.start <= at);
        stays[begun.saturating_sub(1)].phase
    }

    /// How many are present.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// The seat of a user who has one.
    #[inline]
    pub(crate) fn slot(&self, user: u32) -> u32 {
        let track = &self.tracks[self.track_of(user)];
        track.first_seat + (user - track.first) / track.per_seat
    }

    #[inline]
    fn track_of(&self, user: u32) -> usize {
        let mut track = 0;
        while user >= self.tracks[track].end {
            track += 1;
        }
        track
    }

    /// What `user`, ready at `at`, does next.
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
            // Phases are counted from 1 here, so that nobody has been in one before.
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

    /// Those from the wanted number on, of so many, who are there: the last to come first.
    pub(crate) fn surplus(&self, track: u16, before: u64) -> Vec<u32> {
        let Track { first, wanted, .. } = self.tracks[usize::from(track)];
        let users = first + wanted as u32..first + before as u32;
        users.rev().filter(|&user| self.is_present(user)).collect()
    }

    /// Nobody of a track is wanted any more. Those who are there.
    pub(crate) fn end_track(&mut self, track: u16) -> Vec<u32> {
        let before = self.set_wanted(track, 0);
        self.surplus(track, before)
    }

    /// No connection is to be held any more. Those who hold one.
    pub(crate) fn end_holding(&mut self) -> Vec<u32> {
        let holding = (0_u16..).zip(&self.tracks).filter(|(_, track)| track.hold).map(|(number, _)| number);
        let holding: Vec<u16> = holding.collect();
        holding.into_iter().flat_map(|track| self.end_track(track)).collect()
    }

    /// Nobody is wanted any more. Those who are there.
    pub(crate) fn end_all(&mut self) -> Vec<u32> {
        (0..self.tracks.len() as u16).flat_map(|track| self.end_track(track)).collect()
    }

    /// Whether those of a track hold connections.
    pub(crate) fn is_hold(&self, track: u16) -> bool {
        self.tracks[usize::from(track)].hold
    }

    /// Whether anybody ever holds one.
    #[inline]
    pub(crate) const fn has_holding_users(&self) -> bool {
        self.any_holds
    }

    /// Whether this user holds one.
    pub(crate) fn holds(&self, user: u32) -> bool {
        self.tracks[self.track_of(user)].hold
    }

    /// Who holds the connection on `seat`.
    pub(crate) fn holder(&self, seat: u32) -> Option<u32> {
        let track = self.tracks.iter().find(|track| track.hold && track.seats().contains(&seat))?;
        Some(track.first + (seat - track.first_seat))
    }

    /// The first of those whose seat this is.
    pub(crate) fn first_on_slot(&self, seat: u32) -> Option<u32> {
        let track = self.tracks.iter().find(|track| !track.shared && track.seats().contains(&seat))?;
        Some(track.first + (seat - track.first_seat) * track.per_seat)
    }

    /// The seat of a user who has left, if nobody else is on it.
    pub(crate) fn vacate_slot(&self, user: u32) -> Option<u32> {
        let track = &self.tracks[self.track_of(user)];
        if track.shared {
            return None;
        }
        let on_seat = (user - track.first) / track.per_seat * track.per_seat + track.first;
        let mut on_it = on_seat..on_seat + track.per_seat;
        (!on_it.any(|user| self.is_present(user))).then(|| self.slot(user))
    }

    /// Whether the user is there.
    pub(crate) fn is_present(&self, user: u32) -> bool {
        self.present[user as usize]
    }

    /// Whether the user is one of as many as are wanted.
    pub(crate) fn is_active(&self, user: u32) -> bool {
        let track = &self.tracks[self.track_of(user)];
        u64::from(user - track.first) < track.wanted
    }

    /// The phase of a user's track under way at `at`.
    pub(crate) fn phase_of(&self, user: u32, at: Nanos) -> Option<u16> {
        self.tracks[self.track_of(user)].stay_at(at).map(|stay| stay.phase)
    }

    /// What a user does.
    pub(crate) fn scenario_of(&self, user: u32) -> u16 {
        let track = &self.tracks[self.track_of(user)];
        track.scenario.pick(|| track.share.nth(u64::from(user - track.first)))
    }

    /// Whether the sessions counted out for `phase` have all started.
    pub(crate) fn exhausted(&self, phase: usize) -> bool {
        self.used_up[phase]
    }

    /// `user` goes.
    pub(crate) fn leave(&mut self, user: u32) {
        if std::mem::replace(&mut self.present[user as usize], false) {
            self.count -= 1;
        }
    }
}

impl Track {
    fn seats(&self) -> std::ops::Range<u32> {
        self.first_seat..self.first_seat + (self.end - self.first) / self.per_seat
    }

    #[inline]
    fn stay_at(&self, at: Nanos) -> Option<&PhaseSpan> {
        self.stays.iter().find(|stay| stay.start <= at && at < stay.end)
    }
}

/// Users of a track on one connection.
fn per_seat(plan: &Plan, track: &wavetank_plan::Track) -> u32 {
    if track.hold || is_shared(plan, track) { 1 } else { plan.http.pipeline }
}

/// Whether nobody on a track has a connection of his own.
fn is_shared(plan: &Plan, track: &wavetank_plan::Track) -> bool {
    let shares = |scenario: u16| plan.scenarios[usize::from(scenario)].connection == ConnectionOwner::Shared;
    !track.hold && track.mix.parts().iter().all(|&(scenario, _)| shares(scenario))
}

/// How many times `per_seat` users of a track there are in `share`.
fn places(plan: &Plan, track: &wavetank_plan::Track, share: Partition) -> u32 {
    let places = share.count_below(track.most.div_ceil(u64::from(per_seat(plan, track))));
    u32::try_from(places).unwrap_or(u32::MAX)
}

/// The users on the seats that `share` owns.
fn by_seat(share: Partition, per_seat: u32) -> Partition {
    let per_seat = u64::from(per_seat);
    Partition { first: share.first * per_seat, width: share.width * per_seat, of: share.of * per_seat }
}
