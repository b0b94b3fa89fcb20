//! Users of a simulated host that wait for those of other hosts at a rendezvous.

use wavetank_fleet::{PhaseUsers, Quorum, Release, WaitingUsers};
use wavetank_pace::Philox;
use wavetank_units::Nanos;

use crate::sim::scenario::{Meetings, up_to};

/// The only point of the rendezvous.
const POINT: u32 = 0;
/// The phase of all users.
const PHASE: u16 = 0;

/// The users of one host. All instants are on the agent's clock.
#[derive(Clone, Debug)]
pub(crate) struct HostUsers {
    meetings: Meetings,
    random: Philox,
    users: Vec<User>,
    /// The host's number of the current round.
    round: u32,
    /// Rounds of the fleet that were released.
    releases: u32,
    /// Each round that was released here, in order.
    pub(crate) met: Vec<Met>,
}

/// A user who comes a number of times.
#[derive(Clone, Copy, Debug)]
struct User {
    /// When the user comes next.
    comes_at: Nanos,
    is_waiting: bool,
    visits_left: u32,
}

/// A round that was released on a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) release: Release,
    /// Users of the host that were released.
    pub(crate) users: u32,
    /// When the first of them came.
    pub(crate) waited_from: Nanos,
    /// When the last of them came.
    pub(crate) complete_at: Nanos,
    /// When the host received it.
    pub(crate) received_at: Nanos,
}

impl HostUsers {
    /// This number of users, who come for the first time after `zero` of the run's clock.
    pub(crate) fn new(meetings: Meetings, count: u32, zero: Nanos, mut random: Philox) -> Self {
        let mut user = || User {
            comes_at: zero.after(up_to(&mut random, meetings.think_max_ms)),
            is_waiting: false,
            visits_left: meetings.rounds,
        };
        let users = (0..count).map(|_| user()).collect();
        Self { meetings, random, users, round: 0, releases: 0, met: Vec::new() }
    }

    /// When a user comes or the wait of one is over.
    pub(crate) fn next(&self, now: Nanos) -> Option<Nanos> {
        let comes = self.coming().map(|user| user.comes_at);
        let over = self.waiting().map(|user| user.comes_at.after(self.meetings.wait));
        comes.chain(over.filter(|at| *at > now)).min()
    }

    /// Lets the users come who are due, and returns the report.
    pub(crate) fn advance(&mut self, now: Nanos) -> Vec<WaitingUsers> {
        for user in self.users.iter_mut().filter(|user| user.visits_left > 0 && user.comes_at <= now) {
            user.is_waiting = true;
        }
        let is_over = self.waiting().any(|user| now >= user.comes_at.after(self.meetings.wait));
        let remaining = self.users.iter().filter(|user| user.visits_left > 0).count() as u64;
        vec![WaitingUsers {
            point: POINT,
            round: self.round,
            present: self.waiting().count() as u32,
            phase: PHASE,
            quorum: self.meetings.of.map_or(Quorum::Phase(PHASE), Quorum::Users),
            is_over,
            releases: self.releases,
            members: vec![PhaseUsers { phase: PHASE, users: remaining }],
        }]
    }

    /// The controller ends a wait. As in the engine, a round that is unknown is ignored.
    pub(crate) fn release(&mut self, release: Release, zero: Nanos, now: Nanos) {
        self.releases = self.releases.max(release.number + 1);
        let came: Vec<Nanos> = self.waiting().map(|user| user.comes_at).collect();
        let (Some(first), Some(last)) = (came.iter().min(), came.iter().max()) else { return };
        if release.round != Some(self.round) {
            return;
        }
        self.met.push(Met {
            release,
            users: came.len() as u32,
            waited_from: *first,
            complete_at: *last,
            received_at: now,
        });
        self.round += 1;
        let at = zero.after(release.at).max(now);
        for user in self.users.iter_mut().filter(|user| user.is_waiting) {
            user.is_waiting = false;
            user.visits_left -= 1;
            user.comes_at = at.after(up_to(&mut self.random, self.meetings.think_max_ms));
        }
    }

    /// Users who wait now.
    fn waiting(&self) -> impl Iterator<Item = &User> + '_ {
        self.users.iter().filter(|user| user.is_waiting)
    }

    fn coming(&self) -> impl Iterator<Item = &User> + '_ {
        self.users.iter().filter(|user| !user.is_waiting && user.visits_left > 0)
    }
}
