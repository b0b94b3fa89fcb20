//! [`Session`]: one pass of a virtual user through its journey.

use std::sync::Arc;

use wavetank_units::Nanos;

use super::credentials_cache::CredentialsCache;
use super::follow_up_state::FollowUpState;
use super::identity::Identity;
use crate::cookies::Jar;
use crate::value::Values;

/// The position and data of a session. It is small while it has no data, since there may be
/// millions.
#[derive(Debug, Default)]
pub struct Session {
    /// Its identity.
    pub identity: Identity,
    /// The next operation.
    pub(crate) at: u32,
    /// Random numbers used up to now.
    draws: u32,
    /// Whether a request failed, or the session was ended because of one.
    pub failed: bool,
    /// Whether `end` was reached. The remaining operations are skipped.
    pub(crate) ended: bool,
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
    /// The number of messages that the step in progress has got of those it awaits.
    pub(crate) messages: u32,
    /// The state of the request in progress, if it is past its first response.
    pub(crate) course: Option<Box<FollowUpState>>,
    /// Embedded resources that this session has fetched: hashes of their addresses, sorted.
    pub(crate) fetched: Vec<u64>,
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

    /// Starts to count the awaited messages of a step.
    pub(crate) fn forget_messages(&mut self) {
        if let Some(held) = self.holds_mut() {
            held.messages = 0;
        }
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
}
