//! [`Sessions`]: who stands where in a journey.
//!
//! Between those who decide when a session starts (pacer, users) and its requests (exchanges). Knows neither: it is
//! told that a session begins and that a request of it came to its end, and says what is to be done next.

mod answers;

use std::sync::Arc;

use wavetank_journey::extract::Reading;
use wavetank_journey::rows::Table;
use wavetank_journey::value::Finds;
use wavetank_journey::{Identity, Journey, Journeys, Next, Scene, Session, Told};
use wavetank_pace::{Share, Timers};
use wavetank_plan::{Key, Nanos, OnFailure, Plan, Rendezvous};

use crate::slab::{Id, Slab};

/// Whose session it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// An arrival of the open model: its own.
    Arrival,
    /// A virtual user's.
    User(u32),
}

/// What a session wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
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
    pub(crate) whose: Whose,
    /// What its requests were counted under.
    pub(crate) key: Key,
    /// It did nothing that takes time.
    pub(crate) idle: bool,
}

/// Which part of its journey a session is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// What a user does first.
    Before,
    /// The session itself.
    Session,
}

/// A session under way.
struct Live {
    session: Session,
    key: Key,
    whose: Whose,
    part: Part,
    /// The step of the request under way.
    step: u16,
    /// It has done nothing that takes time.
    idle: bool,
}

/// The sessions of one load thread.
pub(crate) struct Sessions {
    plan: Arc<Plan>,
    journeys: Journeys,
    /// For each scenario, whether nobody need remember where its sessions stand.
    plain: Vec<bool>,
    /// Not for all of them.
    any: bool,
    slab: Slab<Live>,
    /// By user; empty where no user goes on a journey.
    users: Vec<Traveller>,
    /// Who pauses, and until when.
    pauses: Timers<Id>,
    stage: Stage,
    /// What a session says on its way; nobody keeps it yet.
    said: Vec<Told>,
    counted: Vec<u16>,
    broken: Vec<u16>,
}

/// A user who goes on journeys.
#[derive(Default)]
struct Traveller {
    /// His session under way.
    live: Option<Id>,
    /// What he keeps from one session to the next.
    kept: Option<Box<Kept>>,
}

/// A user between two sessions.
struct Kept {
    session: Session,
    iterations: u64,
}

/// What a [`Scene`] is made of.
struct Stage {
    plan: Arc<Plan>,
    tables: Arc<[Table]>,
    share: Share,
    /// Wall-clock milliseconds at the thread clock's zero.
    wall_zero_ms: u64,
    seq: u64,
    scratch: Vec<u8>,
    reading: Reading,
    finds: Finds,
}

impl Stage {
    fn scene(&mut self, now: Nanos) -> Scene<'_> {
        Scene {
            seed: self.plan.seed,
            tables: &self.tables,
            data: &self.plan.shared.data,
            wall_ms: self.wall_zero_ms.saturating_add_signed(now.0 / 1_000_000),
            share: self.share,
            seq: &mut self.seq,
            counts: &[],
            scratch: &mut self.scratch,
            reading: &mut self.reading,
            finds: &mut self.finds,
        }
    }
}

impl Sessions {
    /// None yet, of `plan`.
    pub(crate) fn new(plan: Arc<Plan>, journeys: Journeys, share: Share, wall_zero_ms: u64) -> Self {
        Self {
            any: !journeys.scenarios.iter().all(Journey::is_plain),
            plain: journeys.scenarios.iter().map(Journey::is_plain).collect(),
            stage: Stage {
                plan: Arc::clone(&plan),
                tables: Arc::clone(&journeys.tables),
                share,
                wall_zero_ms,
                seq: 0,
                scratch: Vec::new(),
                reading: Reading::default(),
                finds: Finds::default(),
            },
            plan,
            journeys,
            slab: Slab::new(),
            users: Vec::new(),
            pauses: Timers::new(),
            said: Vec::new(),
            counted: Vec::new(),
            broken: Vec::new(),
        }
    }

    /// Whether a session of `scenario` is one request and nothing else.
    #[inline]
    pub(crate) fn is_plain(&self, scenario: u16) -> bool {
        !self.any || self.plain[usize::from(scenario)]
    }

    /// The session at a place of [`Owner::Session`](crate::offered::Owner::Session).
    pub(crate) fn at(&self, place: u32) -> Option<Id> {
        self.slab.at(place)
    }

    /// Whether there may be sessions that are more than one request.
    #[inline]
    pub(crate) const fn is_any(&self) -> bool {
        self.any
    }

    /// How many are under way.
    pub(crate) fn len(&self) -> usize {
        self.slab.len()
    }

    /// A session of number `number` of its phase arrives.
    pub(crate) fn arrive(&mut self, key: Key, number: u64) -> Id {
        let mut session = Session::default();
        session.begin(Identity::of_arrival(key.phase, number));
        self.begin(session, key, Whose::Arrival, true)
    }

    /// User `user` of the thread, number `number` of all `users` of his kind, begins his next session.
    pub(crate) fn start(&mut self, key: Key, user: u32, number: u64, users: u64) -> Id {
        let place = user as usize;
        if self.users.len() <= place {
            self.users.resize_with(place + 1, Traveller::default);
        }
        let kept = self.users[place].kept.take();
        let first = kept.is_none();
        let (mut session, iteration) =
            kept.map_or_else(|| (Session::default(), 0), |kept| (kept.session, kept.iterations));
        session.begin(Identity::of_user(key.scenario, number, iteration, users));
        let id = self.begin(session, key, Whose::User(user), first);
        self.users[place].live = Some(id);
        id
    }

    /// The session of `user` that is under way.
    pub(crate) fn of_user(&self, user: u32) -> Option<Id> {
        self.users.get(user as usize)?.live
    }

    fn begin(&mut self, mut session: Session, key: Key, whose: Whose, first: bool) -> Id {
        let journey = &self.journeys.scenarios[usize::from(key.scenario)];
        if first {
            journey.admit(&mut session);
        }
        let part = if first && !journey.before.is_empty() { Part::Before } else { Part::Session };
        self.slab.insert(Live { session, key, whose, part, step: 0, idle: true })
    }

    /// What session `id` wants at `now`. `None`: there is no such session any more.
    pub(crate) fn advance(&mut self, id: Id, now: Nanos) -> Option<Wants> {
        loop {
            let live = self.slab.get_mut(id)?;
            let journey = &self.journeys.scenarios[usize::from(live.key.scenario)];
            let program = match live.part {
                Part::Before => &journey.before,
                Part::Session => &journey.session,
            };
            let mut scene = self.stage.scene(now);
            let next = live.session.advance(program, &mut scene, now, &mut self.said);
            live.idle &= matches!(next, Next::End { .. });
            self.said.clear();
            match next {
                Next::Request(step) => {
                    live.step = step;
                    return Some(Wants::Request(Key { step, ..live.key }));
                }
                Next::Pause(length) => {
                    self.pauses.insert(now.after(length), id);
                    return Some(Wants::Nothing);
                }
                Next::GiveWay => {
                    self.pauses.insert(now, id);
                    return Some(Wants::Nothing);
                }
                Next::Wait(place) => return Some(Wants::Others(place)),
                Next::End { run: false } if live.part == Part::Before => {
                    live.part = Part::Session;
                    let identity = live.session.identity;
                    live.session.begin(identity);
                }
                // A session that asks for the end of the run ends itself: no command runs such a plan yet.
                Next::End { .. } => return self.end(id).map(Wants::End),
            }
        }
    }

    /// Session `id` is over.
    fn end(&mut self, id: Id) -> Option<Ended> {
        let Live { session, key, whose, idle, .. } = self.slab.remove(id)?;
        if let Whose::User(user) = whose {
            let iterations = session.identity.session + 1;
            let kept = Some(Box::new(Kept { session, iterations }));
            self.users[user as usize] = Traveller { live: None, kept };
        }
        Some(Ended { whose, key, idle })
    }

    /// User `user` leaves and keeps nothing; a session in which he only waits is cut.
    pub(crate) fn leave(&mut self, user: u32) {
        if let Some(traveller) = self.users.get_mut(user as usize)
            && let Some(live) = std::mem::take(traveller).live
        {
            self.slab.remove(live);
        }
    }

    /// Who has paused long enough at `now`, and since when he is ready.
    pub(crate) fn take_ready(&mut self, now: Nanos) -> Option<(Nanos, Id)> {
        self.pauses.pop(now)
    }

    /// When the next one has paused long enough.
    pub(crate) fn next_pause_end(&mut self) -> Option<Nanos> {
        self.pauses.next()
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

    /// Session `id` ends before its time.
    pub(crate) fn cut_short(&mut self, id: Id) -> Option<Ended> {
        self.end(id)
    }

    /// Whose session it is, if a virtual user's.
    pub(crate) fn user(&self, id: Id) -> Option<u32> {
        match self.slab.get(id)?.whose {
            Whose::User(user) => Some(user),
            Whose::Arrival => None,
        }
    }
}
