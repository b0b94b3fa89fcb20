//! The run under load: heartbeats, intervals, lost agents, new shares at the start of a phase.

use wavetank_units::Nanos;

use super::{Controller, ControllerState};
use crate::action::ControllerNotice;
use crate::constants::{BEAT, CHANGE_AHEAD_MIN, ORPHAN_DRAIN_MAX};
use crate::journal::JournalRecord;
use crate::message::{AgentState, Command, ControllerPayload};
use crate::peer::Peer;
use crate::run_setup::LossPolicy;
use crate::shares::shares;

impl Controller {
    pub(super) fn beat(&mut self, now: Nanos) {
        // After a suspension one beat is missed, not all that the clock says: agents speak first.
        self.beat_at = now.after(BEAT);
        for index in 0..self.peers.len() {
            if self.peers[index].is_settled() || self.outcome.is_some() {
                self.repeat_settled(index);
                continue;
            }
            let lost = self.peers[index].on_missed_beat();
            if self.state != ControllerState::Gathering {
                if lost {
                    self.on_lost(index, now);
                }
                let seen = self.peers[index].seen;
                self.send(index, ControllerPayload::Lease { seen });
            }
        }
        self.forget_silent();
        self.release_complete(now);
        self.rebalance(now);
    }

    /// An agent that is silent while others are waited for may be on its way elsewhere.
    fn forget_silent(&mut self) {
        if self.state == ControllerState::Gathering {
            self.peers.retain(|peer| !peer.lost);
        }
    }

    /// The next intervals of an agent are known, and whether each is stored.
    pub(super) fn on_intervals(&mut self, index: usize, intervals: &[(u64, bool)], now: Nanos) {
        let Some(agent) = self.peers[index].id else { return };
        for &(seq, stored) in intervals {
            self.notify(if stored {
                ControllerNotice::Delivered { agent, seq }
            } else {
                ControllerNotice::Unstored { agent, seq }
            });
            if self.seals.deliver(seq, now) {
                self.notify(ControllerNotice::Amended { agent, seq });
            }
        }
    }

    /// Seals the intervals of the fleet that are complete or late.
    pub(super) fn seal_intervals(&mut self, now: Nanos) {
        let (peers, awaited) = (&self.peers, &mut self.awaited);
        let lacks =
            |peer: &Peer, seq| peer.seen <= seq && peer.done().is_none_or(|done| done.intervals > seq);
        let mut sealed = Vec::new();
        while let Some(seq) = self.seals.poll(now, |seq| {
            // It goes round: for an interval it looks at each agent a single time, and not for each
            // message.
            let is_awaited = |index: &usize| !peers[*index].lost && lacks(&peers[*index], seq);
            let next = (*awaited..peers.len()).chain(0..peers.len().min(*awaited)).find(is_awaited);
            *awaited = next.unwrap_or(0);
            next.is_some()
        }) {
            let missing = peers.iter().filter(|peer| lacks(peer, seq)).filter_map(|peer| peer.id).collect();
            sealed.push(ControllerNotice::Sealed { seq, missing });
        }
        for notice in sealed {
            self.notify(notice);
        }
    }

    /// What the setup says about the loss of an agent under load.
    pub(super) fn on_loss(&mut self, index: usize, now: Nanos) {
        let loss = self.losses.last().expect("a loss was just added").clone();
        self.journal(JournalRecord::Lost(loss));
        let is_needed = self.peers[index].state() < AgentState::Sealed;
        if self.setup.on_loss == LossPolicy::Abort && is_needed && self.state == ControllerState::Committed {
            self.aborted = true;
            self.stop(now);
        }
    }

    /// Whether an agent that is not heard cannot send load any more, by its lease.
    pub(super) fn is_gone(&self, peer: &Peer, now: Nanos) -> bool {
        let silent_max = self.setup.orphan_grace.after(ORPHAN_DRAIN_MAX).after(BEAT).after(BEAT);
        let is_expired = now >= peer.heard_at.after(silent_max);
        peer.restarted || (peer.lost && (self.committed.is_none() || is_expired))
    }

    /// Shortly before a phase the shares of agents that are gone go to the others, if that is
    /// wanted. An agent that might still send keeps its share: no arrival has two owners.
    fn rebalance(&mut self, now: Nanos) {
        if !self.setup.rebalance || self.state != ControllerState::Committed {
            return;
        }
        let run_now = now - self.started_at().unwrap_or(now);
        // Two beats long, so that a beat falls into it.
        let earliest = run_now.after(CHANGE_AHEAD_MIN);
        let latest = earliest.after(BEAT).after(BEAT);
        let next = self.setup.phase_starts.iter().position(|start| (earliest..latest).contains(start));
        let Some((phase, at)) = next.map(|phase| (phase as u16, self.setup.phase_starts[phase])) else {
            return;
        };
        // A crashed agent that came back with its intervals sends no more either.
        let is_gone = |peer: &Peer| peer.done().is_some() || self.is_gone(peer, now);
        let gone: Vec<bool> = self.peers.iter().map(is_gone).collect();
        let is_new = self.peers.iter().zip(&gone).any(|(peer, gone)| *gone && !peer.fenced);
        let remain = |(peer, gone): (&Peer, &bool)| !gone && !peer.fenced;
        let can_change = |(peer, gone): (&Peer, &bool)| {
            *gone
                || peer.fenced
                || (peer.capabilities.rebalance && !peer.lost && peer.resumed && peer.can_queue_command())
        };
        let any_remains = self.peers.iter().zip(&gone).any(remain);
        if !is_new || !any_remains || !self.peers.iter().zip(&gone).all(can_change) {
            return;
        }
        let weight = |pair: (&Peer, &bool)| if remain(pair) { pair.0.weight.unwrap_or(1).max(1) } else { 0 };
        let weights: Vec<u64> = self.peers.iter().zip(&gone).map(weight).collect();
        let new_shares: Vec<_> = shares(&weights)
            .into_iter()
            .zip(&weights)
            .map(|(share, weight)| (*weight > 0).then_some(share))
            .collect();
        self.journal_adjustment(JournalRecord::Rebalanced { phase, at, shares: new_shares.clone() });
        self.rebalanced.push(phase);
        let mut changed = Vec::new();
        for (index, share) in new_shares.into_iter().enumerate() {
            let Some(share) = share else {
                self.peers[index].fenced = true;
                continue;
            };
            self.peers[index].share = share;
            changed.extend(self.peers[index].id.map(|agent| (agent, share)));
            self.command(index, Command::Rebalance { phase, at, share }, now);
        }
        self.notify(ControllerNotice::Rebalanced { phase, shares: changed });
    }
}
