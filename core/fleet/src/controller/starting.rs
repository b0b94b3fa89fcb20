//! From the offer to the commitment: nothing is sent before every agent is ready and every clock
//! is known.

use wavetank_units::Nanos;

use super::{Controller, ControllerState};
use crate::action::ControllerNotice;
use crate::clock_offset::ProbeTurn;
use crate::constants::{CLOCK_EVERY, STOP_MAX};
use crate::journal::{JournalAgent, JournalRecord};
use crate::message::Command;
use crate::outcome::{StartProblem, StartRefusal};
use crate::run_setup::Clocks;
use crate::shares::{shares, weights};

impl Controller {
    /// Every required agent is here: each is offered its share.
    pub(super) fn offer(&mut self, now: Nanos) {
        self.peers.sort_by(|a, b| natural(&a.name).cmp(&natural(&b.name)));
        self.index_agents();
        let hosts: Vec<_> = self.peers.iter().map(|peer| (peer.weight, peer.capabilities)).collect();
        let weights = weights(&hosts);
        let shares = shares(&weights);
        let mut agents = Vec::new();
        for ((peer, share), weight) in self.peers.iter_mut().zip(shares).zip(weights) {
            (peer.share, peer.weight) = (share, Some(weight));
            agents.push(JournalAgent { name: peer.name.clone(), instance: peer.instance, share, weight });
        }
        self.journal(JournalRecord::Offered { agents });
        self.state = ControllerState::Preparing;
        self.deadline = Some(now.after(self.setup.prepare_max));
        for index in 0..self.peers.len() {
            let (plan_hash, share) = (self.setup.plan_hash.clone(), self.peers[index].share);
            let orphan_grace = self.setup.orphan_grace;
            self.command(index, Command::Offer { plan_hash, share, orphan_grace }, now);
        }
        self.measure_clocks(now);
    }

    /// Starts a measurement of all clocks.
    pub(super) fn measure_clocks(&mut self, now: Nanos) {
        self.clocks_at = now.after(CLOCK_EVERY);
        // Before the offer no agent is certain to take part.
        if self.state != ControllerState::Gathering {
            let count = self.peers.len();
            let peers = self.peers.iter_mut().enumerate().filter(|(_, peer)| !peer.lost);
            peers.for_each(|(index, peer)| peer.clock.begin(ProbeTurn::new(index, count), now));
            self.timers.set(&self.peers);
        }
    }

    /// Commits the run once all agents are prepared and their clocks are known well enough.
    pub(super) fn commit_if_ready(&mut self, now: Nanos) {
        if !self.peers.iter().all(|peer| peer.prepared && !peer.lost) {
            return;
        }
        if self.state == ControllerState::Preparing {
            // The last measurement may be older than a clock's drift allows.
            self.state = ControllerState::Aligning;
            self.measure_clocks(now);
        }
        if self.state != ControllerState::Aligning || !self.peers.iter().all(|peer| peer.clock.is_measured())
        {
            return;
        }
        let load_from = now.after(self.setup.margin);
        let tolerance = match self.setup.clocks {
            Clocks::Shared => Nanos::MAX,
            Clocks::Measured { tolerance } => tolerance,
        };
        let (uncertainty, worst) = self.start_uncertainty(load_from);
        if uncertainty <= tolerance {
            self.uncertainty = uncertainty;
            self.commit(load_from, now);
            return;
        }
        // Further probes may have shorter round trips.
        let mut more = false;
        for &index in &worst {
            more |= self.peers[index].clock.extend(now);
            self.timers.add(&self.peers[index]);
        }
        if !more {
            for index in worst {
                self.add_refusal(index, StartProblem::Clock { uncertainty, tolerance });
            }
            self.stop(now);
        }
    }

    /// Most that two agents may start apart, and the agents with the most uncertain clocks. A
    /// single agent has only its own uncertainty.
    fn start_uncertainty(&self, at: Nanos) -> (Nanos, Vec<usize>) {
        let mut errors: Vec<_> =
            self.peers.iter().map(|peer| peer.clock.error_at(at).unwrap_or(Nanos::MAX)).zip(0..).collect();
        errors.sort_unstable_by(|a, b| b.cmp(a));
        errors.truncate(2);
        let sum = errors.iter().fold(Nanos::ZERO, |sum, (error, _)| sum.after(*error));
        (sum, errors.into_iter().map(|(_, index)| index).collect())
    }

    fn commit(&mut self, load_from: Nanos, now: Nanos) {
        let start_at = load_from.after(self.setup.lead_in);
        let end_by = self.setup.end_by.map(|end| start_at.after(end));
        self.state = ControllerState::Committed;
        self.committed = Some((start_at, load_from));
        // Agents end by themselves then. An agent that has not ended some time later receives a
        // stop.
        self.deadline = end_by.map(|end| end.after(STOP_MAX));
        self.journal(JournalRecord::Committed { start_at, load_from });
        self.notify(ControllerNotice::Committed(start_at));
        for index in 0..self.peers.len() {
            let clock = &self.peers[index].clock;
            let (start_at, load_from) = (clock.to_agent(start_at), clock.to_agent(load_from));
            let end_by = end_by.map(|end| clock.to_agent(end));
            self.command(index, Command::Commit { start_at, load_from, end_by }, now);
        }
    }

    /// An agent keeps the run from starting.
    pub(super) fn refuse(&mut self, index: usize, reason: StartProblem, now: Nanos) {
        self.add_refusal(index, reason);
        self.stop(now);
    }

    pub(super) fn add_refusal(&mut self, index: usize, reason: StartProblem) {
        let refusal = StartRefusal { name: self.peers[index].name.clone(), reason };
        if !self.refusals.contains(&refusal) {
            self.notify(ControllerNotice::CannotStart(refusal.clone()));
            self.refusals.push(refusal);
        }
    }
}

/// A key that sorts `load2` before `load10`: the length of each run of digits precedes them.
fn natural(name: &str) -> Vec<(usize, &str)> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let digits = is_digit(first);
        let end = rest.find(|c| is_digit(c) != digits).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        parts.push(if digits { (part.trim_start_matches('0').len(), part) } else { (0, part) });
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::natural;

    fn check(sorted: &[&str]) {
        let mut names = sorted.to_vec();
        names.reverse();
        names.sort_by(|a, b| natural(a).cmp(&natural(b)));
        assert_eq!(names, sorted);
    }

    #[test]
    fn names_sort_by_their_numbers() {
        check(&["load2", "load10", "load100"]);
        check(&["load01", "load02", "load10"]);
        check(&["a", "a1", "a1b", "b"]);
    }
}
