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
/// Maximum nesting depth of loops and groups. Deeper ones are rejected when the file is read.
pub const DEPTH_MAX: usize = 32;

/// The identity of a session. Everything drawn for a session is a function of this and the run's
/// seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The kind of random stream and its owner: see [`Identity::for_arrival`],
    /// [`Identity::for_user`].
    domain: u64,
    index: u64,
    /// `${user}`.
    pub user: u64,
    /// `${session}`.
    pub session: u64,
    /// Its position among all sessions of the run. Rows in order and at random depend on it.
    pub order: u64,
    /// Its position among all sessions in the order of their start. Unique rows depend on it.
    pub started: u64,
}

impl Identity {
    /// Returns the identity of arrival number `session` of `phase`. It is its own user.
    pub const fn for_arrival(phase: u16, session: u64) -> Self {
        let domain = 0x5e55 << 32 | phase as u64;
        Self { domain, index: session, user: session, session, order: session, started: session }
    }

    /// Returns the identity of pass `iteration` of user number `user` of `scenario`, which has
    /// `users` users.
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
    /// Its identity.
    pub identity: Identity,
    /// The next operation.
    at: u32,
    /// Random numbers used up to now.
    draws: u32,
    /// Whether a request failed, or the session was ended because of one.
    pub failed: bool,
    /// Whether `end` was reached. The remaining operations are skipped.
    ended: bool,
    /// The status of the last response.
    pub(crate) status: u16,
    /// The response time of the last response.
    pub(crate) time: Nanos,
    /// Data that most journeys need and the simplest ones do not.
    held: Option<Box<SessionData>>,
    /// Variables that the session never changes, by slot. All sessions share them.
    given: Option<Arc<[Values]>>,
}

/// The data of a session.
#[derive(Debug, Default)]
pub(crate) struct SessionData {
    pub(crate) variables: Vec<Values>,
    pub(crate) counters: Vec<u64>,
    pub(crate) groups: Vec<Nanos>,
    /// By table, the rows that are assigned in the order of start.
    pub(crate) rows: Vec<u64>,
    pub(crate) jar: Jar,
    /// Credentials for servers that sent a challenge.
    pub(crate) logins: CredentialsCache,
    /// The length of the cookies that the step itself set in the request in progress, if cookies of
    /// the jar follow them in its `Cookie` field.
    pub(crate) own_cookies: Option<usize>,
    /// The state of the request in progress, if it is past its first response.
    pub(crate) course: Option<Box<FollowUpState>>,
    /// Embedded resources that this session has fetched: hashes of their addresses, sorted.
    pub(crate) fetched: Vec<u64>,
}

/// The next action of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAction {
    /// Send this step's request.
    Request(u16),
    /// Wait for this duration, then call again.
    Pause(Nanos),
    /// Wait for other users there, then call again.
    Wait(Rendezvous),
    /// The session is over.
    End {
        /// Whether the run is over too, because `end: run` was reached.
        run: bool,
    },
    /// The session did much work without sending: call again in the next turn.
    GiveWay,
}

/// An event that a session reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// A group lasted from the first instant to the second.
    Group(u16, Nanos, Nanos),
    /// A line of `log`.
    Log(String),
}

impl Session {
    /// Moves to the start of a journey. The user's data (variables, cookies) remains.
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

    /// Sets the row of table `data`, which assigns rows in the order of start.
    pub fn set_row(&mut self, data: u16, row: u64) {
        let rows = &mut self.data_mut().rows;
        if rows.len() <= usize::from(data) {
            rows.resize(usize::from(data) + 1, u64::MAX);
        }
        rows[usize::from(data)] = row;
    }

    /// Returns the row that was [set](Self::set_row), else the position of its start.
    pub(crate) fn row(&self, data: u16) -> u64 {
        let own = self.data().and_then(|held| held.rows.get(usize::from(data)));
        own.copied().unwrap_or(self.identity.started)
    }

    /// Returns its data, which is created if there is none.
    pub(crate) fn data_mut(&mut self) -> &mut SessionData {
        self.held.get_or_insert_default()
    }

    /// Returns its data, if any.
    pub(crate) fn data(&self) -> Option<&SessionData> {
        self.held.as_deref()
    }

    /// Returns its data, if any.
    pub(crate) fn holds_mut(&mut self) -> Option<&mut SessionData> {
        self.held.as_deref_mut()
    }

    /// Takes the state of the request in progress and leaves `None`.
    pub(crate) fn take_follow_ups(&mut self) -> Option<Box<FollowUpState>> {
        self.holds_mut()?.course.take()
    }

    /// Returns variable `slot`, or `None` if it was never set.
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

    /// Returns variable `slot` for writing.
    pub fn variable_mut(&mut self, slot: u16) -> &mut Values {
        let variables = &mut self.data_mut().variables;
        if variables.len() <= usize::from(slot) {
            variables.resize_with(usize::from(slot) + 1, Values::default);
        }
        &mut variables[usize::from(slot)]
    }

    /// Returns the next random number.
    pub(crate) fn draw(&mut self, seed: u64) -> u64 {
        let word = self.identity.random_word(seed, self.draws);
        self.draws = self.draws.wrapping_add(1);
        word
    }

    /// Continues at `now` until the session has to wait.
    pub fn advance(
        &mut self,
        program: &Program,
        scene: &mut RenderContext<'_>,
        now: Nanos,
        told: &mut Vec<SessionEvent>,
    ) -> SessionAction {
        self.advance_by(OPS_MAX, program, scene, now, told)
    }

    /// Does the same for at most `ops_max` operations, then it [gives way](SessionAction::GiveWay).
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

    /// Starts the next iteration or leaves the loop.
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

    /// Turns a variable with a JSON array into the list of its items.
    fn list(&mut self, slot: u16) {
        let value = self.variable_mut(slot);
        if let (1, Some(found)) = (value.len(), value.first())
            && found.kind == JsonType::Json
        {
            let mut items = Values::default();
            // A value that is not an array stays a single value.
            if json_items(found.text, usize::MAX, &mut items).is_ok() {
                *value = items;
            }
        }
    }
}
