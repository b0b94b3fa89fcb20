//! [`Session`]: one pass of a virtual user through its journey.

use std::sync::Arc;

use wavetank_pace::Philox;
use wavetank_plan::{Nanos, Rendezvous};

use crate::auth::CredentialsCache;
use crate::cookies::Jar;
use crate::extract::json_items;
use crate::program::{Op, Program};
use crate::render_context::RenderContext;
use crate::step::FollowUpState;
use crate::value::{JsonType, Values};

/// Maximum number of operations in one call: a journey that loops without sending or pausing gives
/// way to others.
const OPS_MAX: usize = 1_000;
/// Loops and groups inside each other at most; deeper ones are refused when the file is read.
pub const DEPTH_MAX: usize = 32;

/// The identity of a session. Everything drawn for a session is a function of this and the run's
/// seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Which kind of stream, and of whom: see [`Identity::for_arrival`], [`Identity::for_user`].
    domain: u64,
    index: u64,
    /// `${user}`.
    pub user: u64,
    /// `${session}`.
    pub session: u64,
    /// Its place among all sessions of the run, which rows in order and at random go by.
    pub order: u64,
    /// Its place among all sessions in the order of their start, which unique rows go by.
    pub started: u64,
}

impl Identity {
    /// A session that arrived: number `session` of all arrivals of `phase`. It is its own user.
    pub const fn for_arrival(phase: u16, session: u64) -> Self {
        let domain = 0x5e55 << 32 | phase as u64;
        Self { domain, index: session, user: session, session, order: session, started: session }
    }

    /// Pass `iteration` of user number `user` of `scenario`, of `users` in all.
    pub const fn for_user(scenario: u16, user: u64, iteration: u64, users: u64) -> Self {
        let domain = 0x05e4 << 48 | (scenario as u64) << 32 | user >> 32;
        let order = iteration.wrapping_mul(users).wrapping_add(user);
        let index = user << 32 | (iteration & 0xffff_ffff);
        Self { domain, index, user, session: iteration, order, started: order }
    }

    /// Returns the same identity with `all`, its number among all arrivals of the run. Its random
    /// numbers do not change.
    #[must_use]
    pub const fn with_global_number(self, all: u64) -> Self {
        Self { user: all, session: all, order: all, started: all, ..self }
    }

    /// Returns the same identity with `before` sessions of its kind ahead of it. The rows of those
    /// sessions remain theirs.
    #[must_use]
    pub const fn offset_by(self, before: u64) -> Self {
        Self { order: self.order.wrapping_add(before), ..self }
    }

    /// Returns its random number at index `number`.
    pub fn random_word(&self, seed: u64, number: u32) -> u64 {
        Philox::nth_word(seed, self.domain, self.index, u64::from(number))
    }
}

/// The position and data of a session. It is small while it has no data, since there may be
/// millions.
#[derive(Debug, Default)]
pub struct Session {
    /// Who it is.
    pub identity: Identity,
    /// The next operation.
    at: u32,
    /// Random numbers used up to now.
    draws: u32,
    /// A request failed, or the session was ended for one.
    pub failed: bool,
    /// `end` was met: what would follow does not.
    ended: bool,
    /// Of the last answer.
    pub(crate) status: u16,
    /// Of the last answer.
    pub(crate) time: Nanos,
    /// What most journeys need and the simplest do not.
    held: Option<Box<SessionData>>,
    /// Variables that it has and never changes, by slot; all sessions share them.
    given: Option<Arc<[Values]>>,
}

/// What a session holds.
#[derive(Debug, Default)]
pub(crate) struct SessionData {
    pub(crate) variables: Vec<Values>,
    pub(crate) counters: Vec<u64>,
    pub(crate) groups: Vec<Nanos>,
    /// By data, of those that go by who starts first.
    pub(crate) rows: Vec<u64>,
    pub(crate) jar: Jar,
    /// Answers to servers that wanted to know who asks.
    pub(crate) logins: CredentialsCache,
    /// The state of the request in progress, if it is past its first response.
    pub(crate) course: Option<Box<FollowUpState>>,
    /// Embedded resources that this session has fetched: hashes of their addresses, sorted.
    pub(crate) fetched: Vec<u64>,
}

/// What a session wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAction {
    /// Send this step's request.
    Request(u16),
    /// Wait for this duration, then call again.
    Pause(Nanos),
    /// Wait for others there, then be asked again.
    Wait(Rendezvous),
    /// It is over; the run, too, if so.
    End {
        /// `end: run` was met.
        run: bool,
    },
    /// It did much without sending anything: ask again in the next turn.
    GiveWay,
}

/// What a session says on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// A group took from the first instant to the second.
    Group(u16, Nanos, Nanos),
    /// `log`.
    Log(String),
}

impl Session {
    /// At the beginning of a journey. What the user holds (variables, cookies) stays.
    pub fn begin(&mut self, identity: Identity) {
        self.identity = identity;
        self.draws = 0;
        self.failed = false;
        self.enter_next_list();
    }

    /// Moves to the start of another list of the same session. The random numbers continue without
    /// repetition.
    pub fn enter_next_list(&mut self) {
        self.at = 0;
        self.ended = false;
        if let Some(held) = &mut self.held {
            held.counters.clear();
            held.groups.clear();
            held.fetched.clear();
        }
    }

    /// Whether it was ended before the end of its list.
    pub const fn was_ended(&self) -> bool {
        self.ended
    }

    /// Its row of data number `data`, which is one that goes by who starts first.
    pub fn set_row(&mut self, data: u16, row: u64) {
        let rows = &mut self.data_mut().rows;
        if rows.len() <= usize::from(data) {
            rows.resize(usize::from(data) + 1, u64::MAX);
        }
        rows[usize::from(data)] = row;
    }

    /// The row that was [set](Self::set_row), or else the place of its start.
    pub(crate) fn row(&self, data: u16) -> u64 {
        let own = self.data().and_then(|held| held.rows.get(usize::from(data)));
        own.copied().unwrap_or(self.identity.started)
    }

    /// What it holds, made if there is nothing yet.
    pub(crate) fn data_mut(&mut self) -> &mut SessionData {
        self.held.get_or_insert_default()
    }

    /// What it holds, if anything.
    pub(crate) fn data(&self) -> Option<&SessionData> {
        self.held.as_deref()
    }

    /// What it holds, if anything.
    pub(crate) fn holds_mut(&mut self) -> Option<&mut SessionData> {
        self.held.as_deref_mut()
    }

    /// Takes the state of the request in progress and leaves `None`.
    pub(crate) fn take_follow_ups(&mut self) -> Option<Box<FollowUpState>> {
        self.holds_mut()?.course.take()
    }

    /// Variable `slot`; nothing was put in yet: `None`.
    pub fn variable(&self, slot: u16) -> Option<&Values> {
        let slot = usize::from(slot);
        let given = self.given.as_ref().and_then(|given| given.get(slot)).filter(|value| !value.is_empty());
        given.or_else(|| self.data()?.variables.get(slot))
    }

    /// Gives the session these variables in addition to its own. The journey must not set any of
    /// them.
    pub(crate) fn share(&mut self, given: &Arc<[Values]>) {
        self.given = Some(Arc::clone(given));
    }

    /// Variable `slot` to be set.
    pub fn variable_mut(&mut self, slot: u16) -> &mut Values {
        let variables = &mut self.data_mut().variables;
        if variables.len() <= usize::from(slot) {
            variables.resize_with(usize::from(slot) + 1, Values::default);
        }
        &mut variables[usize::from(slot)]
    }

    /// The next random word.
    pub(crate) fn draw(&mut self, seed: u64) -> u64 {
        let word = self.identity.random_word(seed, self.draws);
        self.draws = self.draws.wrapping_add(1);
        word
    }

    /// Go on at `now` until something has to be waited for.
    pub fn advance(
        &mut self,
        program: &Program,
        scene: &mut RenderContext<'_>,
        now: Nanos,
        told: &mut Vec<SessionEvent>,
    ) -> SessionAction {
        self.advance_by(OPS_MAX, program, scene, now, told)
    }

    /// The same for `ops_max` operations at most; then it [gives way](SessionAction::GiveWay).
    pub fn advance_by(
        &mut self,
        ops_max: usize,
        program: &Program,
        scene: &mut RenderContext<'_>,
        now: Nanos,
        told: &mut Vec<SessionEvent>,
    ) -> SessionAction {
        for _ in 0..ops_max {
            let op = &program.ops[self.at as usize];
            self.at += 1;
            match op {
                Op::Request(step) => return SessionAction::Request(*step),
                Op::Think(think) => {
                    let length = scene.draw_think(self, think);
                    if length > Nanos::ZERO {
                        return SessionAction::Pause(length);
                    }
                }
                Op::Rendezvous(place) => return SessionAction::Wait(*place),
                Op::EndSession | Op::EndRun => {
                    self.ended = true;
                    return SessionAction::End { run: matches!(op, Op::EndRun) };
                }
                Op::Done => {
                    self.at -= 1;
                    return SessionAction::End { run: false };
                }
                Op::GroupBegin => self.data_mut().groups.push(now),
                Op::GroupEnd(group) => {
                    let began = self.data_mut().groups.pop().unwrap_or(now);
                    told.push(SessionEvent::Group(*group, began, now));
                }
                Op::Set(slot, template) => scene.set(self, *slot, template),
                Op::Log(template) => {
                    let text = scene.text(self, template);
                    told.push(SessionEvent::Log(String::from_utf8_lossy(&text).into_owned()));
                }
                Op::Count(count) => self.data_mut().counters.push(*count),
                Op::List(list) => self.list(*list),
                Op::Jump(to) => self.at = *to,
                Op::Again { exit } => self.again(true, *exit),
                Op::While { check, exit } => {
                    let holds = scene.holds(self, check);
                    self.again(holds, *exit);
                }
                Op::Each { list, name, exit } => self.each(*list, *name, *exit),
                Op::Unless { check, exit } => {
                    if !scene.holds(self, check) {
                        self.at = *exit;
                    }
                }
                Op::Choose(ways) => {
                    let all = ways.last().map_or(0, |&(sum, _)| sum);
                    let place = scene.draw_below(self, all);
                    let way = ways.iter().find(|&&(sum, _)| place < sum);
                    self.at = way.map_or(self.at, |&(_, at)| at);
                }
            }
        }
        SessionAction::GiveWay
    }

    /// The condition that comes next, if the session is before an `if` or at the head of a `while`:
    /// its text, and where the program continues if it is false, for [`is_at`](Self::is_at).
    pub fn pending_condition<'p>(&self, program: &'p Program) -> Option<(&'p str, u32)> {
        match program.ops.get(self.at as usize)? {
            Op::Unless { check, exit } | Op::While { check, exit } => Some((check.text(), *exit)),
            _ => None,
        }
    }

    /// Whether the session is at that place of its program.
    pub const fn is_at(&self, place: u32) -> bool {
        self.at == place
    }

    /// Whether the session is at the end of `program`.
    pub fn is_at_end(&self, program: &Program) -> bool {
        matches!(program.ops.get(self.at as usize), Some(Op::Done))
    }

    /// One more time, or out of the loop.
    fn again(&mut self, wanted: bool, exit: u32) {
        let counters = &mut self.data_mut().counters;
        match counters.last_mut() {
            Some(left) if wanted && *left > 0 => *left -= 1,
            _ => {
                counters.pop();
                self.at = exit;
            }
        }
    }

    fn each(&mut self, list: u16, name: u16, exit: u32) {
        let held = self.data_mut();
        let place = held.counters.last_mut().expect("a loop begins with its counter");
        let index = *place as usize;
        *place += 1;
        let mut value = std::mem::take(self.variable_mut(name));
        value.clear();
        let found = self.variable(list).and_then(|list| list.get(index));
        let more = found.is_some_and(|found| value.push(found.kind, found.text));
        *self.variable_mut(name) = value;
        if !more {
            self.data_mut().counters.pop();
            self.at = exit;
        }
    }

    /// A variable that holds a JSON array becomes the list of its items.
    fn list(&mut self, slot: u16) {
        let value = self.variable_mut(slot);
        if let (1, Some(found)) = (value.len(), value.first())
            && found.kind == JsonType::Json
        {
            let mut items = Values::default();
            // What is no array stays the one value it is.
            if json_items(found.text, usize::MAX, &mut items).is_ok() {
                *value = items;
            }
        }
    }
}
