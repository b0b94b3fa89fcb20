//! [`Sessions`]: the state of each session within its journey.
//!
//! This layer is between those that decide when a session starts (pacer, users) and its requests
//! (exchanges). It knows neither. Its caller reports that a session starts or that one of its
//! requests ended, and it returns the next action.

mod ending;
mod numbering;
mod pauses;
mod rendezvous;
mod responses;
mod stage;
mod targeting;
mod unique_rows;

use std::sync::Arc;

use wavetank_journey::{Identity, Journeys, Session, SessionAction, SessionEvent};
use wavetank_pace::{Partition, TimerId, Timers};
use wavetank_plan::{Key, OnFailure, Plan, Rendezvous};
use wavetank_units::Nanos;

use crate::connection_demand::uses_dedicated_slot;
use crate::slab::{Id, Slab};
use numbering::Numbering;
pub(crate) use rendezvous::RendezvousState;
pub(crate) use responses::Verdict;
use stage::RenderBuffers;
pub(crate) use unique_rows::UniqueRows;

/// The maximum number of users for which memory is reserved in advance.
const ROOM_MAX: u64 = 1 << 20;

/// The owner of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionOwner {
    /// An arrival of the open loop, which owns itself.
    Arrival,
    /// A virtual user.
    User(u32),
}

/// The next need of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionNeed {
    /// A request, counted under this key.
    Request(Key),
    /// Nothing for now, because a timer is running.
    Nothing,
    /// To wait for others at this rendezvous.
    Others(Rendezvous),
    /// Nothing more, because it has ended.
    End(Ended),
}

/// A session that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) owner: SessionOwner,
    /// The key under which its requests were counted.
    pub(crate) key: Key,
    /// It did nothing that takes time.
    pub(crate) idle: bool,
    /// Whether one of its requests failed, or it was ended for that reason. `None`: it was not a
    /// session but the last steps of its user.
    pub(crate) failed: Option<bool>,
    /// It requests the end of the whole run.
    pub(crate) run: bool,
    /// Its index.
    pub(crate) index: u32,
}

/// The part of its journey that a session runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionStage {
    /// The first steps of a user.
    Before,
    /// The session itself.
    Session,
    /// The last steps of a user.
    After,
    /// None: the user is between two sessions, and this is the state it keeps.
    Between,
}

/// A session in progress, or the state that its user keeps until the next one. A user has one entry
/// for as long as it is present, so sessions need no allocation.
struct SessionEntry {
    session: Session,
    key: Key,
    owner: SessionOwner,
    part: SessionStage,
    /// The step of the current request.
    step: u16,
    /// It has sent nothing and has not paused. Waiting for others can take no time.
    idle: bool,
    /// When it started.
    began: Nanos,
    meets: RendezvousState,
    /// The timer of the current pause, or of the user's wait between two sessions.
    timer: TimerId,
    /// One of its requests is in flight.
    asks: bool,
    /// The user's first steps were completed before it started.
    settled: bool,
}

/// The sessions of one load thread.
pub(crate) struct Sessions {
    plan: Arc<Plan>,
    journeys: Journeys,
    /// For each scenario, whether its sessions need no stored state.
    plain: Vec<bool>,
    /// The same for sessions of users, which may decide about their connections as well.
    plain_of_users: Vec<bool>,
    /// Whether some sessions need stored state.
    any: bool,
    slab: Slab<SessionEntry>,
    /// By user; empty if no user runs a journey.
    users: Vec<Option<Id>>,
    /// Sessions that pause, and the end of each pause.
    pauses: Timers<Id>,
    /// Users between two sessions, and the end of each wait.
    parked: Timers<u32>,
    stage: RenderBuffers,
    rows: UniqueRows,
    /// Events of the session that advanced last, until they are taken.
    said: Vec<SessionEvent>,
    speaker: Key,
    /// The numbers of arrivals in the phases before each phase, and of users in the tracks before
    /// each track. They number all of them consecutively.
    numbering: Numbering,
    counted: Vec<u16>,
    /// Memory for the next message.
    next: Vec<u8>,
    broken: Vec<u16>,
    /// The number of users that run their last steps.
    farewells: usize,
    /// The number of users between two sessions.
    resting: usize,
}

impl Sessions {
    /// Creates the session state of `plan`, without any sessions.
    pub(crate) fn new(
        plan: Arc<Plan>,
        journeys: Journeys,
        share: Partition,
        rows: UniqueRows,
        wall_zero_ms: u64,
    ) -> Self {
        let scenarios = journeys.scenarios.iter().zip(&plan.scenarios);
        let plain: Vec<bool> =
            scenarios.map(|(journey, plan)| journey.is_single_fixed_request() && is_alone(plan)).collect();
        let of_user = |(scenario, plain): (u16, &bool)| *plain && uses_dedicated_slot(&plan, scenario);
        let plain_of_users: Vec<bool> = (0_u16..).zip(&plain).map(of_user).collect();
        let on_journeys = |track: &wavetank_plan::Track| {
            track.mix.parts().iter().any(|&(scenario, _)| !plain_of_users[usize::from(scenario)])
        };
        let tracks = plan.tracks().into_iter().filter(on_journeys);
        let travellers =
            tracks.map(|track| share.count_below(track.most)).sum::<u64>().min(ROOM_MAX) as usize;
        let mut slab = Slab::new();
        slab.reserve(travellers);
        Self {
            any: plain.contains(&false) || plain_of_users.contains(&false),
            plain,
            plain_of_users,
            stage: RenderBuffers::new(&plan, &journeys, share, wall_zero_ms),
            rows,
            numbering: Numbering::new(&plan),
            plan,
            journeys,
            slab,
            users: Vec::with_capacity(travellers),
            pauses: Timers::with_capacity(travellers),
            parked: Timers::new(),
            said: Vec::new(),
            speaker: Key::default(),
            counted: Vec::new(),
            next: Vec::new(),
            broken: Vec::new(),
            farewells: 0,
            resting: 0,
        }
    }

    /// Whether a session of `scenario` is one request and nothing else.
    #[inline]
    pub(crate) fn is_plain(&self, scenario: u16) -> bool {
        !self.any || self.plain[usize::from(scenario)]
    }

    /// The same for a session of a user.
    #[inline]
    pub(crate) fn is_single_request_for_user(&self, scenario: u16) -> bool {
        !self.any || self.plain_of_users[usize::from(scenario)]
    }

    /// Returns the session at the index of [`Owner::Session`](crate::offered::Owner::Session).
    pub(crate) fn at(&self, place: u32) -> Option<Id> {
        self.slab.at(place).filter(|&id| self.live(id).is_some())
    }

    /// Whether there may be sessions with more than one request.
    #[inline]
    pub(crate) const fn has_multi_step(&self) -> bool {
        self.any
    }

    /// The number of sessions in progress, including the last steps of users.
    pub(crate) fn len(&self) -> usize {
        self.slab.len() - self.resting
    }

    /// The number of sessions in progress that are counted as sessions.
    pub(crate) fn open(&self) -> u64 {
        (self.len() - self.farewells) as u64
    }

    /// Adds the session with number `number` of its phase, which arrives at `now`.
    pub(crate) fn arrive(&mut self, key: Key, number: u64, now: Nanos) -> Id {
        let mut session = Session::default();
        let all = self.numbering.arrival(key.phase, number);
        session.begin(Identity::for_arrival(key.phase, number).with_global_number(all));
        let part = begin(&self.journeys, &self.rows, key, &mut session, (true, false));
        self.slab.insert(SessionEntry::new(session, key, SessionOwner::Arrival, part, now))
    }

    /// Starts the next session of user `user` of the thread, number `number` of all users of a
    /// track, at `now`.
    pub(crate) fn start(&mut self, key: Key, user: u32, of: (u16, u64), now: Nanos) -> Id {
        let place = user as usize;
        if self.users.len() <= place {
            self.users.resize(place + 1, None);
        }
        let (number, users) = self.numbering.user(of.0, of.1);
        let before = self.numbering.arrivals();
        let identity = |pass| Identity::for_user(key.scenario, number, pass, users).offset_by(before);
        if let Some(id) = self.users[place]
            && let Some(live) = self.slab.get_mut(id)
        {
            let session = &mut live.session;
            session.begin(identity(session.identity.session + 1));
            live.part = begin(&self.journeys, &self.rows, key, session, (false, live.settled));
            (live.key, live.began, live.idle, live.step) = (key, now, true, 0);
            self.parked.cancel(std::mem::take(&mut live.timer));
            self.resting -= 1;
            return id;
        }
        let mut session = Session::default();
        session.begin(identity(0));
        let part = begin(&self.journeys, &self.rows, key, &mut session, (true, false));
        let id = self.slab.insert(SessionEntry::new(session, key, SessionOwner::User(user), part, now));
        self.users[place] = Some(id);
        id
    }

    /// Returns the current session of `user`.
    pub(crate) fn for_user(&self, user: u32) -> Option<Id> {
        let id = (*self.users.get(user as usize)?)?;
        self.live(id).map(|_| id)
    }

    /// Whether a request of session `id` is in flight.
    pub(crate) fn is_asking(&self, id: Id) -> bool {
        self.slab.get(id).is_some_and(|live| live.asks)
    }

    /// Returns session `id`, if it is in progress.
    fn live(&self, id: Id) -> Option<&SessionEntry> {
        self.slab.get(id).filter(|live| live.part != SessionStage::Between)
    }

    /// Returns the next need of session `id` at `now`. `None`: the session no longer exists.
    pub(crate) fn advance(&mut self, id: Id, now: Nanos) -> Option<SessionNeed> {
        loop {
            let live = self.slab.get_mut(id)?;
            let journey = &self.journeys.scenarios[usize::from(live.key.scenario)];
            let program = match live.part {
                SessionStage::Before => &journey.before,
                SessionStage::Session => &journey.session,
                SessionStage::After | SessionStage::Between => &journey.after,
            };
            let mut scene = self.stage.scene(now);
            let next = live.session.advance(program, &mut scene, now, &mut self.said);
            live.idle &= matches!(next, SessionAction::End { .. } | SessionAction::Wait(_));
            live.asks = matches!(next, SessionAction::Request(_));
            self.speaker = live.key;
            match next {
                SessionAction::Request(step) => {
                    live.step = step;
                    return Some(SessionNeed::Request(Key { step, ..live.key }));
                }
                SessionAction::Pause(length) => {
                    live.timer = self.pauses.insert(now.after(length), id);
                    return Some(SessionNeed::Nothing);
                }
                SessionAction::GiveWay => {
                    live.timer = self.pauses.insert(now, id);
                    return Some(SessionNeed::Nothing);
                }
                SessionAction::Wait(place) => return Some(SessionNeed::Others(place)),
                SessionAction::End { run: true } => return self.end(id, true).map(SessionNeed::End),
                SessionAction::End { run: false } => match live.part {
                    SessionStage::Before if !live.session.was_ended() => live.part = SessionStage::Session,
                    SessionStage::Session if live.owner == SessionOwner::Arrival => {
                        live.part = SessionStage::After;
                    }
                    SessionStage::Before
                    | SessionStage::Session
                    | SessionStage::After
                    | SessionStage::Between => {
                        return self.end(id, false).map(SessionNeed::End);
                    }
                },
            }
            // One part of it is complete, and the next one starts.
            live.session.enter_next_list();
        }
    }

    /// Returns the events of the session that advanced last.
    #[inline]
    pub(crate) const fn events_mut(&mut self) -> &mut Vec<SessionEvent> {
        &mut self.said
    }

    /// Returns the key under which that session is counted.
    pub(crate) const fn events_key(&self) -> Key {
        self.speaker
    }

    /// Returns what a failed request means for session `id`. `data`: it could not even be written.
    pub(crate) fn failed(&mut self, id: Id, data: bool) -> OnFailure {
        let Some(live) = self.slab.get_mut(id) else { return OnFailure::Continue };
        live.session.failed = true;
        let scenario = &self.plan.scenarios[usize::from(live.key.scenario)];
        let step = &scenario.steps[usize::from(live.step)];
        match step.on_failure.unwrap_or(scenario.on_failure) {
            OnFailure::Continue if data => OnFailure::EndSession,
            other => other,
        }
    }

    /// Returns the virtual user that owns a session, if any.
    pub(crate) fn user(&self, id: Id) -> Option<u32> {
        match self.slab.get(id)?.owner {
            SessionOwner::User(user) => Some(user),
            SessionOwner::Arrival => None,
        }
    }
}

impl SessionEntry {
    /// Creates a session that starts at `began`.
    fn new(session: Session, key: Key, owner: SessionOwner, part: SessionStage, began: Nanos) -> Self {
        let meets = RendezvousState::Alone;
        let (step, idle, asks, settled) = (0, true, false, false);
        Self { session, key, owner, part, step, idle, began, meets, timer: TimerId::default(), asks, settled }
    }
}

/// Returns the part of its journey with which a session starts. It may be its user's `first`
/// session, and its user may have completed the first steps already.
fn begin(
    journeys: &Journeys,
    rows: &UniqueRows,
    key: Key,
    session: &mut Session,
    (first, settled): (bool, bool),
) -> SessionStage {
    let journey = &journeys.scenarios[usize::from(key.scenario)];
    if first {
        journey.init_session(session);
    }
    rows.give(key.scenario, first, session);
    if settled || journey.before.is_empty() { SessionStage::Session } else { SessionStage::Before }
}

/// Whether sessions of a scenario are independent: none waits for the previous one, and none can
/// end the run.
fn is_alone(scenario: &wavetank_plan::Scenario) -> bool {
    let ends_run = |on_failure: OnFailure| on_failure == OnFailure::EndRun;
    let steps = scenario.steps.iter().any(|step| step.on_failure.is_some_and(ends_run));
    scenario.pace.is_none() && !ends_run(scenario.on_failure) && !steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_who_thinks_stays_small() {
        // A million of them think at a time. The size does not include 32 bytes of the timer and
        // the variables.
        let size = size_of::<Option<SessionEntry>>() + size_of::<Option<Id>>();
        assert!(size <= 160, "{size} bytes");
    }
}
