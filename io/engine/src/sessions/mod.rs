//! [`Sessions`]: who stands where in a journey.
//!
//! Between those who decide when a session starts (pacer, users) and its requests (exchanges). Knows neither: it is
//! told that a session begins and that a request of it came to its end, and says what is to be done next.

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
use wavetank_plan::{Key, Nanos, OnFailure, Plan, Rendezvous};

use crate::connection_demand::uses_dedicated_slot;
use crate::slab::{Id, Slab};
use numbering::Numbering;
pub(crate) use rendezvous::RendezvousState;
use stage::RenderBuffers;
pub(crate) use unique_rows::UniqueRows;

pub(crate) use responses::Verdict;

/// Room is made ahead for so many users at most.
const ROOM_MAX: u64 = 1 << 20;

/// Whose session it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionOwner {
    /// An arrival of the open model: its own.
    Arrival,
    /// A virtual user's.
    User(u32),
}

/// What a session wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionNeed {
    /// A request, counted under this.
    Request(Key),
    /// To be left alone until it says so: a timer runs.
    Nothing,
    /// To wait for others there.
    Others(Rendezvous),
    /// Nothing more: it has ended.
    End(Ended),
}

/// A session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) whose: SessionOwner,
    /// What its requests were counted under.
    pub(crate) key: Key,
    /// It did nothing that takes time.
    pub(crate) idle: bool,
    /// Whether one of its requests failed, or it was ended for one; `None`: it was no session, but what its user does
    /// at last.
    pub(crate) failed: Option<bool>,
    /// It wants the whole run to end.
    pub(crate) run: bool,
    /// Where it stood.
    pub(crate) place: u32,
}

/// Which part of its journey a session is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionStage {
    /// What a user does first.
    Before,
    /// The session itself.
    Session,
    /// What a user does at last.
    After,
    /// None: its user is between two of them, and this is what he keeps.
    Between,
}

/// A session under way, or what its user keeps until the next one: he has one of these for as long as he stays, so that
/// sessions ask for no memory.
struct SessionEntry {
    session: Session,
    key: Key,
    whose: SessionOwner,
    part: SessionStage,
    /// The step of the request under way.
    step: u16,
    /// It has done nothing that takes time.
    idle: bool,
    /// When it began.
    began: Nanos,
    meets: RendezvousState,
    /// The end of the pause it stands in, or of what its user waits for between two of them.
    timer: TimerId,
    /// A request of it is under way.
    asks: bool,
    /// What its user does first was done before it began.
    settled: bool,
}

/// The sessions of one load thread.
pub(crate) struct Sessions {
    plan: Arc<Plan>,
    journeys: Journeys,
    /// For each scenario, whether nobody need remember where its sessions stand.
    plain: Vec<bool>,
    /// The same for sessions of users, whose connections may be a matter of the session, too.
    plain_of_users: Vec<bool>,
    /// Not for all of them.
    any: bool,
    slab: Slab<SessionEntry>,
    /// By user; empty where no user goes on a journey.
    users: Vec<Option<Id>>,
    /// Who pauses, and until when.
    pauses: Timers<Id>,
    /// Users between two sessions, and until when.
    parked: Timers<u32>,
    stage: RenderBuffers,
    rows: UniqueRows,
    /// What a session said on its way, until somebody takes it.
    said: Vec<SessionEvent>,
    speaker: Key,
    /// Arrivals of the open model's phases before each phase, and users of the tracks before each track: what numbers
    /// them through.
    numbering: Numbering,
    counted: Vec<u16>,
    /// Memory for what goes out next.
    next: Vec<u8>,
    broken: Vec<u16>,
    /// Of those under way, what users do at last.
    farewells: usize,
    /// Users between two sessions.
    resting: usize,
}

impl Sessions {
    /// None yet, of `plan`.
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

    /// The session at a place of [`Owner::Session`](crate::offered::Owner::Session).
    pub(crate) fn at(&self, place: u32) -> Option<Id> {
        self.slab.at(place).filter(|&id| self.live(id).is_some())
    }

    /// Whether there may be sessions that are more than one request.
    #[inline]
    pub(crate) const fn has_multi_step(&self) -> bool {
        self.any
    }

    /// How many are under way, what users do at last among them.
    pub(crate) fn len(&self) -> usize {
        self.slab.len() - self.resting
    }

    /// How many are under way that are counted as sessions.
    pub(crate) fn open(&self) -> u64 {
        (self.len() - self.farewells) as u64
    }

    /// A session of number `number` of its phase arrives at `now`.
    pub(crate) fn arrive(&mut self, key: Key, number: u64, now: Nanos) -> Id {
        let mut session = Session::default();
        let all = self.numbering.arrival(key.phase, number);
        session.begin(Identity::for_arrival(key.phase, number).with_global_number(all));
        let part = begin(&self.journeys, &self.rows, key, &mut session, (true, false));
        self.slab.insert(SessionEntry::new(session, key, SessionOwner::Arrival, part, now))
    }

    /// User `user` of the thread, number `number` of all of a track, begins his next session at `now`.
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

    /// The session of `user` that is under way.
    pub(crate) fn for_user(&self, user: u32) -> Option<Id> {
        let id = (*self.users.get(user as usize)?)?;
        self.live(id).map(|_| id)
    }

    /// Whether a request of session `id` is under way.
    pub(crate) fn is_asking(&self, id: Id) -> bool {
        self.slab.get(id).is_some_and(|live| live.asks)
    }

    /// Session `id`, if it is under way.
    fn live(&self, id: Id) -> Option<&SessionEntry> {
        self.slab.get(id).filter(|live| live.part != SessionStage::Between)
    }

    /// What session `id` wants at `now`. `None`: there is no such session any more.
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
            live.idle &= matches!(next, SessionAction::End { .. });
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
                    SessionStage::Session if live.whose == SessionOwner::Arrival => {
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
            // One part of it is done, and the next one begins.
            live.session.enter_next_list();
        }
    }

    /// What the session that advanced last has said on its way.
    #[inline]
    pub(crate) const fn events_mut(&mut self) -> &mut Vec<SessionEvent> {
        &mut self.said
    }

    /// What that session is counted under.
    pub(crate) const fn events_key(&self) -> Key {
        self.speaker
    }

    /// A request of session `id` failed: what that means for it. `data`: it could not even be written.
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

    /// Whose session it is, if a virtual user's.
    pub(crate) fn user(&self, id: Id) -> Option<u32> {
        match self.slab.get(id)?.whose {
            SessionOwner::User(user) => Some(user),
            SessionOwner::Arrival => None,
        }
    }
}

impl SessionEntry {
    /// One that begins at `began`.
    fn new(session: Session, key: Key, whose: SessionOwner, part: SessionStage, began: Nanos) -> Self {
        let meets = RendezvousState::Alone;
        let (step, idle, asks, settled) = (0, true, false, false);
        Self { session, key, whose, part, step, idle, began, meets, timer: TimerId::default(), asks, settled }
    }
}

/// A session is about to begin, its user's `first` perhaps, who may have done what he does first: with which part of its
/// journey.
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

/// Whether sessions of a scenario stand alone: neither does one wait for the one before it, nor does the end of the run
/// hang on it.
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
        // A million of them think at a time: with their timer's 32 bytes, and without variables.
        let size = size_of::<Option<SessionEntry>>() + size_of::<Option<Id>>();
        assert!(size <= 160, "{size} bytes");
    }
}
