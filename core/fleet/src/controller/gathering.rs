//! Agents report to the controller, and those that cannot take part are refused.

use wavetank_units::Nanos;

use super::{Controller, ControllerState};
use crate::action::ControllerNotice;
use crate::clock_offset::ClockOffset;
use crate::hello::{DenialReason, Hello};
use crate::message::{AgentId, AgentState, Command, ControllerPayload, RunId};
use crate::outcome::{Loss, StartProblem, StartRefusal};
use crate::peer::Peer;
use crate::run_setup::{Clocks, Members};

impl Controller {
    /// An agent introduces itself.
    pub(super) fn on_hello(&mut self, from: AgentId, run: RunId, hello: &Hello, now: Nanos) {
        let known = self.peers.iter().position(|peer| peer.name == hello.name);
        let expected = &self.setup.version;
        if hello.version != *expected {
            let reason = DenialReason::Version { expected: expected.clone() };
            return self.deny(from, &hello.name, reason, now);
        }
        match known {
            Some(index) if self.peers[index].instance == hello.instance => {
                self.attach(index, from, hello, now);
            }
            // A restarted agent that still has the spool of this run.
            Some(index) if run == self.setup.run && self.committed.is_some() => {
                self.attach(index, from, hello, now);
            }
            Some(index) if self.state == ControllerState::Gathering => {
                // A link gives a restarted agent the same number only if the former one is gone.
                if self.peers[index].id == Some(from) || self.peers[index].lost {
                    self.peers.remove(index);
                    self.join(from, hello, now);
                } else {
                    self.deny(from, &hello.name, DenialReason::DuplicateName, now);
                }
            }
            Some(index) => self.on_other_process(index, from, hello, now),
            None if self.state == ControllerState::Gathering => self.join(from, hello, now),
            None => self.send_to(from, ControllerPayload::Denied { reason: DenialReason::NotInFleet }),
        }
    }

    /// An agent of the run is heard, perhaps under another address or as another process.
    fn attach(&mut self, index: usize, from: AgentId, hello: &Hello, now: Nanos) {
        let peer = &mut self.peers[index];
        let is_other = peer.instance != hello.instance;
        (peer.id, peer.capabilities) = (Some(from), hello.capabilities);
        if is_other {
            peer.instance = hello.instance;
            peer.restarted = false;
            peer.resumed = false;
            peer.forget_commands();
        }
        self.on_heard(index, now);
        let peer = &self.peers[index];
        if !peer.resumed && !peer.awaits(&Command::Resume) {
            self.command(index, Command::Resume, now);
        }
    }

    /// Another process has the name of an agent of the run, and knows nothing of the run.
    fn on_other_process(&mut self, index: usize, from: AgentId, hello: &Hello, now: Nanos) {
        let peer = &self.peers[index];
        let is_successor = peer.lost || peer.id.is_none_or(|id| id == from);
        if self.committed.is_none() {
            let problem = if is_successor {
                StartProblem::Lost
            } else {
                StartProblem::Denied(DenialReason::DuplicateName)
            };
            return self.refuse(index, problem, now);
        }
        let reason = if is_successor { DenialReason::TooLate } else { DenialReason::DuplicateName };
        self.send_to(from, ControllerPayload::Denied { reason });
        if is_successor
            && !self.peers[index].is_settled()
            && !std::mem::replace(&mut self.peers[index].restarted, true)
        {
            self.peers[index].instance = hello.instance;
            self.on_lost(index, now);
        }
    }

    fn join(&mut self, from: AgentId, hello: &Hello, now: Nanos) {
        let Some(member) = self.setup.member(&hello.name) else {
            return self.send_to(from, ControllerPayload::Denied { reason: DenialReason::NotInFleet });
        };
        if self.peers.len() >= self.setup.required() {
            return self.send_to(from, ControllerPayload::Denied { reason: DenialReason::NotInFleet });
        }
        let clock = match self.setup.clocks {
            Clocks::Shared => ClockOffset::shared(),
            Clocks::Measured { .. } => ClockOffset::unknown(),
        };
        let mut peer = Peer::new(Some(from), hello, clock, now);
        peer.weight = member.weight;
        self.peers.push(peer);
        self.notify(ControllerNotice::Joined { agent: from, name: hello.name.clone() });
    }

    /// An agent cannot take part. Before the offer that keeps the whole run from starting, if the
    /// fleet needs this agent.
    fn deny(&mut self, from: AgentId, name: &str, reason: DenialReason, now: Nanos) {
        self.send_to(from, ControllerPayload::Denied { reason: reason.clone() });
        let is_required = self.setup.member(name).is_some();
        if self.state == ControllerState::Gathering && is_required {
            let refusal = StartRefusal { name: name.to_owned(), reason: StartProblem::Denied(reason) };
            if !self.refusals.contains(&refusal) {
                self.notify(ControllerNotice::CannotStart(refusal.clone()));
                self.refusals.push(refusal);
            }
            self.offer_if_gathered(now);
        }
    }

    /// Offers shares once every required agent has reported. If one of the named agents was denied,
    /// the run ends instead. Where any agent will do, others may take the place of a denied one.
    pub(super) fn offer_if_gathered(&mut self, now: Nanos) {
        if self.state != ControllerState::Gathering {
            return;
        }
        let (required, joined) = (self.setup.required(), self.peers.len());
        let any_will_do = matches!(self.setup.members, Members::Count(_));
        if joined >= required && (any_will_do || self.refusals.is_empty()) {
            self.refusals.clear();
            self.offer(now);
        } else if !any_will_do && joined + self.refusals.len() >= required {
            self.stop(now);
        }
    }

    /// Not all agents reported in time.
    pub(super) fn on_gather_deadline(&mut self, now: Nanos) {
        let is_missing = |name: &str| {
            let denied = self.refusals.iter().any(|refusal| refusal.name == name);
            !denied && self.peers.iter().all(|peer| peer.name != name)
        };
        let missing = match &self.setup.members {
            Members::Count(required) => {
                let reason = StartProblem::TooFew { found: self.peers.len() as u32, required: *required };
                vec![StartRefusal { name: String::new(), reason }]
            }
            Members::Named(members) => members
                .iter()
                .filter(|member| is_missing(&member.name))
                .map(|member| StartRefusal { name: member.name.clone(), reason: StartProblem::Missing })
                .collect(),
        };
        for refusal in missing {
            self.notify(ControllerNotice::CannotStart(refusal.clone()));
            self.refusals.push(refusal);
        }
        self.stop(now);
    }

    /// A sign of life.
    pub(super) fn on_heard(&mut self, index: usize, now: Nanos) {
        let settled = self.peers[index].is_settled();
        if self.peers[index].on_message(now)
            && !settled
            && let Some(agent) = self.peers[index].id
        {
            self.notify(ControllerNotice::Back(agent));
        }
        // Its share went to others.
        let peer = &self.peers[index];
        if peer.fenced && peer.resumed && peer.state() < AgentState::Sealed && !peer.awaits(&Command::Stop) {
            self.command(index, Command::Stop, now);
        }
    }

    /// An agent is not heard any more, or its process was replaced.
    pub(super) fn on_lost(&mut self, index: usize, now: Nanos) {
        self.peers[index].lost = true;
        if self.committed.is_none() {
            // An agent that is silent after a stop is no reason for it.
            if self.state != ControllerState::Stopping {
                self.refuse(index, StartProblem::Lost, now);
            }
            return;
        }
        let peer = &self.peers[index];
        let at = now - self.started_at().unwrap_or(now);
        let loss = Loss {
            name: peer.name.clone(),
            share: peer.share,
            at,
            phase: self.setup.phase_at(at),
            last_interval: peer.seen.checked_sub(1),
        };
        self.losses.push(loss.clone());
        self.notify(ControllerNotice::Lost(loss));
        self.on_loss(index, now);
    }

    /// The place of an agent.
    pub(super) fn index_of(&self, agent: AgentId) -> Option<usize> {
        let is_it = |peer: &Peer| peer.id == Some(agent);
        let known = self.indexes.get(&agent).copied();
        let known = known.filter(|index| self.peers.get(*index).is_some_and(is_it));
        known.or_else(|| self.peers.iter().position(is_it))
    }

    /// Notes where each agent is. Looking for it for each message would take time with the square
    /// of the fleet.
    pub(super) fn index_agents(&mut self) {
        let index = |(index, peer): (usize, &Peer)| Some((peer.id?, index));
        self.indexes = self.peers.iter().enumerate().filter_map(index).collect();
    }
}
