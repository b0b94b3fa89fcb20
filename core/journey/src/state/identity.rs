//! [`Identity`]: the source of everything that is drawn for a session.

use wavetank_pace::Philox;

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
