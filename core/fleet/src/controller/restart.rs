//! A controller that was restarted continues the run from its journal.

use std::collections::BTreeMap;

use wavetank_units::Nanos;

use super::{Controller, ControllerState};
use crate::clock_offset::ClockOffset;
use crate::constants::{BEATS_MISSED_AFTER_RESTART_MAX, STOP_MAX};
use crate::hello::{Capabilities, Hello};
use crate::journal::{JournalAgent, JournalRecord, RunHistory};
use crate::message::{AgentState, Command, RefusalReason};
use crate::peer::Peer;
use crate::run_setup::{Clocks, RunSetup};

/// What an archive has of one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchivedIntervals {
    /// Intervals 0 to `seen − 1` were noticed.
    pub seen: u64,
    /// Number of them that were never stored.
    pub unstored: u64,
}

impl Controller {
    /// Continues a run after a crash of its controller. The setup is that of the former controller
    /// with a higher epoch; `archived` is what the archive has of each agent, by name.
    ///
    /// A run that was committed goes on; its agents report by themselves. A run that was not
    /// committed is stopped: nothing was sent. A run that was over fetches what its archive lacks
    /// from agents that still have spools.
    ///
    /// # Panics
    /// If the epoch is not higher than the former one.
    pub fn resume(
        setup: RunSetup,
        history: &RunHistory,
        archived: &BTreeMap<String, ArchivedIntervals>,
        now: Nanos,
    ) -> Self {
        assert!(setup.epoch > history.epoch, "each controller of a run has a higher epoch");
        let end_by = setup.end_by;
        let mut controller = Self { is_successor: true, ..Self::new(setup, now) };
        controller.peers = history
            .agents
            .iter()
            .map(|agent| controller.former_peer(agent, history, archived, now))
            .collect();
        controller.losses.clone_from(&history.losses);
        controller.rebalanced.clone_from(&history.rebalanced);
        controller.adjustments.clone_from(&history.adjustments);
        controller.committed = history.committed;
        controller.ending = history.ending;
        let is_ending = history.over || history.ending.is_some() || history.committed.is_none();
        if history.agents.is_empty() {
            // Nothing was offered, so agents may be gathered again.
            return controller;
        }
        controller.state = match (is_ending, history.ending) {
            (true, Some(true)) if !history.over => ControllerState::Draining,
            (true, _) => ControllerState::Stopping,
            (false, _) => ControllerState::Committed,
        };
        let start_at = history.committed.map(|(start_at, _)| start_at);
        let planned = start_at.zip(end_by).map(|(start_at, end)| start_at.after(end).after(STOP_MAX));
        controller.deadline = if is_ending { Some(now.after(STOP_MAX)) } else { planned };
        controller.advance(now);
        controller
    }

    fn former_peer(
        &self,
        agent: &JournalAgent,
        history: &RunHistory,
        archived: &BTreeMap<String, ArchivedIntervals>,
        now: Nanos,
    ) -> Peer {
        let hello = Hello {
            version: self.setup.version.clone(),
            name: agent.name.clone(),
            instance: agent.instance,
            // Known again when the agent reports. Only a new offer would need them.
            capabilities: Capabilities::default(),
            state: AgentState::Idle,
        };
        let clock = match self.setup.clocks {
            Clocks::Shared => ClockOffset::shared(),
            Clocks::Measured { .. } => ClockOffset::unknown(),
        };
        let mut peer = Peer::new(None, &hello, clock, now);
        let known = archived.get(&agent.name).copied().unwrap_or_default();
        (peer.share, peer.weight) = (agent.share, Some(agent.weight));
        (peer.seen, peer.unstored) = (known.seen, known.unstored);
        peer.prepared = true;
        peer.fenced = history.fenced.contains(&agent.name);
        peer.resumed = false;
        peer.missed_max = BEATS_MISSED_AFTER_RESTART_MAX;
        if let Some(done) = history.ended.get(&agent.name) {
            peer.restore_done(done.clone());
        }
        peer
    }

    /// An agent's state is known again.
    pub(super) fn on_resumed(&mut self, index: usize, state: AgentState, received: u64, now: Nanos) {
        self.peers[index].missed_max = crate::constants::BEATS_MISSED_MAX;
        let never_started = self.committed.is_some() && state < AgentState::Committed;
        if !never_started {
            self.repeat_adjustments(index, received, now);
        }
        let command = match (self.ending, self.committed) {
            // The commitment did not reach it, and the load goes on without it.
            _ if never_started => Command::Stop,
            (Some(true), _) => Command::Drain,
            (Some(false), _) | (None, None) => Command::Stop,
            (None, Some(_)) => return,
        };
        if state < AgentState::Sealed {
            self.command(index, command, now);
        }
    }

    /// Orders changes and new shares that did not reach an agent before the controller ended. It
    /// refuses those that are too late by now.
    fn repeat_adjustments(&mut self, index: usize, received: u64, now: Nanos) {
        let command = |record: &JournalRecord| match record {
            JournalRecord::Changed { at, phase, change } => {
                Some(Command::Change { at: *at, phase: *phase, change: *change })
            }
            JournalRecord::Rebalanced { phase, at, shares } => {
                let share = shares.get(index).copied().flatten()?;
                Some(Command::Rebalance { phase: *phase, at: *at, share })
            }
            _ => None,
        };
        let commands: Vec<_> = self.adjustments.iter().filter_map(command).skip(received as usize).collect();
        for command in commands {
            if self.peers[index].can_queue_command() {
                self.command(index, command, now);
            } else {
                self.peers[index].refused.push(RefusalReason::TooLate);
            }
        }
    }
}
