//! [`Users`]: virtual users of the closed model, each sending after its last answer.

use wavetank_plan::{Load, Nanos, Phase};

use crate::budget::Budget;

/// One load thread's virtual users.
pub(crate) struct Users {
    /// Present or not, by number.
    present: Vec<bool>,
    count: u64,
    /// Users on one connection.
    per_seat: u32,
    /// More than this many leave after the request under way.
    wanted: u64,
    /// Requests left to offer, per phase, where counted.
    requests: Vec<Option<Budget>>,
    /// Phases in which none is left.
    used_up: Vec<bool>,
}

impl Users {
    pub(crate) fn new(users: u64, per_seat: u32, requests: Vec<Option<Budget>>) -> Self {
        Self {
            present: vec![false; users as usize],
            count: 0,
            per_seat,
            wanted: users,
            used_up: vec![false; requests.len()],
            requests,
        }
    }

    /// Those who join at a phase's start: everybody of this thread's share who is not there yet.
    pub(crate) fn join(&mut self) -> Vec<u32> {
        let mut joined = Vec::new();
        for (user, present) in (0_u32..).zip(self.present.iter_mut()).take(self.wanted as usize) {
            if !*present {
                *present = true;
                self.count += 1;
                joined.push(user);
            }
        }
        joined
    }

    /// From now on this many.
    pub(crate) fn want(&mut self, users: u64) {
        self.wanted = users.min(self.present.len() as u64);
    }

    /// How many are present.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// The seat of a user.
    #[inline]
    pub(crate) const fn seat(&self, user: u32) -> u32 {
        user / self.per_seat
    }

    /// The phase in which `user`, ready at `at`, starts its next iteration; `None`: it leaves.
    #[inline]
    pub(crate) fn next(&mut self, user: u32, at: Nanos, phases: &[Phase]) -> Option<u16> {
        let phase = if u64::from(user) < self.wanted { closed_phase_at(at, phases) } else { None };
        let phase = phase.filter(|&phase| {
            let phase = usize::from(phase);
            let left = self.requests[phase].as_mut().is_none_or(Budget::take);
            self.used_up[phase] |= !left;
            left
        });
        if phase.is_none() {
            self.leave(user);
        }
        phase
    }

    /// Whether the requests counted out for `phase` are all offered.
    pub(crate) fn used_up(&self, phase: usize) -> bool {
        self.used_up[phase]
    }

    /// `user` goes for good.
    pub(crate) fn leave(&mut self, user: u32) {
        if std::mem::replace(&mut self.present[user as usize], false) {
            self.count -= 1;
        }
    }
}

/// The closed phase under way at `at`.
#[inline]
fn closed_phase_at(at: Nanos, phases: &[Phase]) -> Option<u16> {
    (0_u16..)
        .zip(phases)
        .find(|(_, phase)| {
            matches!(phase.load, Load::Closed { .. })
                && phase.start <= at
                && phase.end().is_none_or(|end| at < end)
        })
        .map(|(index, _)| index)
}
