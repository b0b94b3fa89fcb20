//! Users of several agents that wait for each other: reports of agents and releases of the
//! controller.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

use crate::wire_values::instant;

/// The users of one agent at one point of a rendezvous.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingUsers {
    /// The point. Every agent gives the same points the same numbers.
    pub point: u32,
    /// The agent's own number of the current round.
    pub round: u32,
    /// The number of its users that wait.
    pub present: u32,
    /// Index of the phase under which they are counted.
    pub phase: u16,
    /// Whom they wait for.
    pub quorum: Quorum,
    /// Whether the time limit of the wait has passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_over: bool,
    /// Rounds of the fleet that the agent has seen released.
    pub releases: u32,
    /// Its users that are waited for, for each phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<PhaseUsers>,
}

/// Whom the users at a point wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quorum {
    /// This number of users, themselves included.
    Users(u64),
    /// All users of the phase with this index.
    Phase(u16),
    /// The number is unknown, so only the time limit ends the wait.
    Unknown,
}

/// The users of a phase that may come to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseUsers {
    /// Index of the phase.
    pub phase: u16,
    /// All of them but those that have left and will not return.
    pub users: u64,
}

/// The end of a wait, for all agents at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// The point.
    pub point: u32,
    /// The agent's own number of the round. `None`: none of its users waits, it only counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// The fleet's number of the round, from 0.
    pub number: u32,
    /// The instant at which all continue, on the run's clock.
    #[serde(with = "instant", rename = "at_ns")]
    pub at: Nanos,
    /// The number of users that were waited for; 0 if it is unknown, as for a round that another
    /// agent may have continued from before.
    pub of: u64,
    /// Index of the phase under which the release is counted.
    pub phase: u16,
    /// Whether the time limit of the wait ended it.
    pub by_wait: bool,
}

/// What the controller knows of the waiting users of one agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeerRendezvous {
    reported: BTreeMap<u32, WaitingUsers>,
    /// By point: rounds of the fleet released to the agent, and its own last released round.
    released: BTreeMap<u32, (u32, Option<u32>)>,
}

impl PeerRendezvous {
    /// Replaces the report.
    pub(crate) fn report(&mut self, points: Vec<WaitingUsers>) {
        self.reported = points.into_iter().map(|users| (users.point, users)).collect();
    }

    /// The points of the report.
    pub(crate) fn points(&self) -> impl Iterator<Item = u32> + '_ {
        self.reported.keys().copied()
    }

    /// The report of a point.
    pub(crate) fn users(&self, point: u32) -> Option<&WaitingUsers> {
        self.reported.get(&point)
    }

    /// The users that wait at a point, unless their release was sent already.
    pub(crate) fn waiting(&self, point: u32) -> Option<&WaitingUsers> {
        let sent = self.released.get(&point).and_then(|(_, round)| *round);
        // Numbers of rounds wrap, so an older one is at most half of them behind.
        let is_sent =
            |users: &&WaitingUsers| sent.is_some_and(|sent| sent.wrapping_sub(users.round) < 1 << 31);
        self.reported.get(&point).filter(|users| users.present > 0 && !is_sent(users))
    }

    /// Rounds of the fleet at a point that the agent has seen released, or will see.
    pub(crate) fn releases(&self, point: u32) -> u32 {
        let sent = self.released.get(&point).map_or(0, |(releases, _)| *releases);
        self.users(point).map_or(0, |users| users.releases).max(sent)
    }

    /// Notes a release that was sent.
    pub(crate) fn on_release(&mut self, release: &Release) {
        let entry = self.released.entry(release.point).or_default();
        *entry = (release.number.saturating_add(1), release.round.or(entry.1));
    }
}
