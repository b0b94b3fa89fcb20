//! Rendezvous of users on several agents: when all are there, or the wait is over, the controller
//! releases them at one instant.

use std::collections::BTreeSet;

use wavetank_units::Nanos;

use super::{Controller, ControllerState};
use crate::constants::RELEASE_AHEAD;
use crate::message::{AgentState, Command};
use crate::rendezvous::{Quorum, Release, WaitingUsers};

impl Controller {
    /// An agent has reported who waits on it.
    pub(super) fn on_waiting(&mut self, index: usize, points: Vec<WaitingUsers>, now: Nanos) {
        self.peers[index].rendezvous.report(points);
        self.release_complete(now);
    }

    /// Releases the users of each point where all are there or the wait is over.
    pub(super) fn release_complete(&mut self, now: Nanos) {
        if !matches!(self.state, ControllerState::Committed | ControllerState::Draining) {
            return;
        }
        let points: BTreeSet<u32> = self.peers.iter().flat_map(|peer| peer.rendezvous.points()).collect();
        for point in points {
            self.release_point(point, now);
        }
    }

    /// The agents with users that are waited for. A lost one may come back, but the others do not
    /// wait for it.
    fn participants(&self) -> Vec<usize> {
        let takes_part = |index: &usize| {
            let peer = &self.peers[*index];
            let is_there = !peer.lost && !peer.restarted && peer.resumed && peer.id.is_some();
            is_there && peer.state() < AgentState::Sealed && !peer.is_settled()
        };
        (0..self.peers.len()).filter(takes_part).collect()
    }

    fn release_point(&mut self, point: u32, now: Nanos) {
        let Some(start_at) = self.started_at() else { return };
        let agents = self.participants();
        if !agents.iter().all(|&index| self.peers[index].can_queue_command()) {
            return;
        }
        // Agents that no longer take part count too: two rounds never have the same number.
        let next = self.peers.iter().map(|peer| peer.rendezvous.releases(point)).max().unwrap_or(0);
        // A round was released by a former controller or without this agent: it did not hear of it.
        for &index in &agents {
            let peer = &self.peers[index].rendezvous;
            if let Some(users) = peer.waiting(point).filter(|_| peer.releases(point) < next) {
                let (round, phase, of) = (Some(users.round), users.phase, 0);
                let at = now - start_at;
                let release = Release { point, round, number: next - 1, at, of, phase, by_wait: false };
                self.send_release(index, release, now);
            }
        }
        let Some((of, phase, by_wait)) = self.complete(&agents, point) else { return };
        // Agents may have seen this round released by a former controller.
        let (of, by_wait) = if self.is_unheard(point) { (0, false) } else { (of, by_wait) };
        let error = |&index: &usize| self.peers[index].clock.error_at(now).unwrap_or(Nanos::ZERO);
        // The error of a clock's offset is half of the way there and back.
        let way = agents.iter().map(error).max().unwrap_or(Nanos::ZERO);
        let at = (now - start_at).after(RELEASE_AHEAD).after(way).after(way);
        for index in agents {
            let round = self.peers[index].rendezvous.waiting(point).map(|users| users.round);
            let release = Release { point, round, number: next, at, of, phase, by_wait };
            self.send_release(index, release, now);
        }
    }

    /// Whether a former controller had agents that have reported nothing of this point since: they
    /// have ended, or their report is still to come.
    fn is_unheard(&self, point: u32) -> bool {
        self.is_successor && self.peers.iter().any(|peer| peer.rendezvous.users(point).is_none())
    }

    /// If the users at a point may continue: how many were waited for, the phase under which they
    /// are counted, and whether the time limit ended the wait.
    fn complete(&self, agents: &[usize], point: u32) -> Option<(u64, u16, bool)> {
        let waiting: Vec<&WaitingUsers> =
            agents.iter().filter_map(|&index| self.peers[index].rendezvous.waiting(point)).collect();
        let first = waiting.first()?;
        let present: u64 = waiting.iter().map(|users| u64::from(users.present)).sum();
        let of = match first.quorum {
            Quorum::Users(of) => Some(of.max(1)),
            Quorum::Phase(phase) => {
                // Until every agent has reported, it is unknown how many users it has.
                let members = |&index: &usize| {
                    let users = self.peers[index].rendezvous.users(point)?;
                    users.members.iter().find(|members| members.phase == phase).map(|members| members.users)
                };
                let all: Option<u64> = agents
                    .iter()
                    .map(members)
                    .try_fold(0, |all: u64, users| Some(all.saturating_add(users?)));
                all.map(|all| all.max(1))
            }
            Quorum::Unknown => None,
        };
        let is_complete = of.is_some_and(|of| present >= of);
        let is_over = waiting.iter().any(|users| users.is_over);
        (is_complete || is_over).then(|| (of.unwrap_or(0), first.phase, !is_complete))
    }

    fn send_release(&mut self, index: usize, release: Release, now: Nanos) {
        self.peers[index].rendezvous.on_release(&release);
        self.command(index, Command::Release(release), now);
    }
}
