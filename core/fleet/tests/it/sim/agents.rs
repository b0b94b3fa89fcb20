//! The processes of agents: they start, work, write to their disks and die.

use wavetank_fleet::{Agent, AgentSetup};
use wavetank_pace::Philox;
use wavetank_units::Nanos;

use crate::sim::host::{Host, HostStep, Kind, digest};
use crate::sim::scenario::Fault;
use crate::sim::world::{Fate, World, name};

impl World {
    /// A process of an agent starts, and looks at its disk.
    pub(crate) fn start_agent(&mut self, number: usize) {
        self.instances += 1;
        let mut setup = AgentSetup::local("1");
        (setup.identity.name, setup.identity.instance) = (name(number), self.instances);
        setup.identity.capabilities.cores = 1 + number as u32;
        setup.identity.capabilities.rebalance = true;
        (setup.shares_process, setup.spools) = (false, true);
        let now = self.clocks[number].at(self.now);
        let find_kind = |fault: &Fault| match fault {
            Fault::Unready { agent } if *agent == number => Some(Kind::Unready),
            Fault::Deaf { agent } if *agent == number => Some(Kind::Deaf),
            _ => None,
        };
        let find_full = |fault: &Fault| match fault {
            Fault::DiskFull { agent, seq } if *agent == number => Some(*seq),
            _ => None,
        };
        let faults = &self.scenario.faults;
        let kind = faults.iter().find_map(find_kind).unwrap_or_default();
        let full_from = faults.iter().filter_map(find_full).min();
        let mut host = Host::new(kind, self.scenario.plan, self.scenario.lead_in, full_from);
        if let Some(meetings) = self.scenario.meetings {
            let random = Philox::keyed(self.random.below(u64::MAX), 3, number as u64);
            host.meetings = Some((meetings, 1 + number as u32, random));
        }
        let agent = match self.disks[number].find() {
            Some(spool) => {
                host.die(now);
                Agent::recover(setup, spool, now)
            }
            None => Agent::new(setup, now),
        };
        self.agents[number] = Some(agent);
        self.touch(number);
        let former = std::mem::replace(&mut self.hosts[number], host);
        if former.zero.is_some() || former.prepared {
            self.fallen.push((number, former));
        }
    }

    pub(crate) fn advance_agent(&mut self, number: usize) {
        let now = self.clocks[number].at(self.now);
        while let Some(mut agent) = self.agents[number].take() {
            let step = self.hosts[number].advance(&mut agent, now);
            self.agents[number] = Some(agent);
            match step {
                Some(step) => self.on_step(number, step, now),
                None => break,
            }
        }
        if let Some(agent) =
            self.agents[number].as_mut().filter(|agent| agent.poll_timeout().is_some_and(|at| now >= at))
        {
            agent.handle_timeout(now);
        }
    }

    /// An interval goes to the disk, or the last one was written.
    fn on_step(&mut self, number: usize, step: HostStep, now: Nanos) {
        if step == HostStep::Seal || self.hosts[number].load_from.is_some() {
            let seq = self.hosts[number].sealed;
            let crash = self.crash_at_interval(number, seq);
            if crash == Some(false) {
                return self.kill_agent(number, Some(Nanos::from_secs(3)));
            }
            let is_full = self.hosts[number].full_from.is_some_and(|full| seq >= full);
            let disk = &mut self.disks[number];
            self.hosts[number].sealed += 1;
            disk.sealed = seq + 1;
            if !is_full {
                disk.spool.push((seq, (number as u64 + 1) * 1_000_003 + seq * seq));
            }
            if crash == Some(true) {
                return self.kill_agent(number, Some(Nanos::from_secs(3)));
            }
            let agent = self.agents[number].as_mut().expect("it runs");
            if is_full {
                agent.handle_unstored(seq, now);
            } else {
                agent.handle_sealed(seq, now);
            }
        }
        if step == HostStep::Finish {
            self.hosts[number].gone = Some(now);
            let agent = self.agents[number].as_mut().expect("it runs");
            agent.handle_finished(digest(&self.disks[number].spool), now);
            self.disks[number].end = agent.end_cause().map(|cause| (cause, agent.adjustments()));
        }
    }

    /// Whether the agent's process dies at this interval: before (false) or after it is stored.
    fn crash_at_interval(&self, number: usize, at: u64) -> Option<bool> {
        self.scenario.faults.iter().find_map(|fault| match *fault {
            Fault::CrashAtInterval { agent, seq, stored } if agent == number && seq == at => Some(stored),
            _ => None,
        })
    }

    pub(crate) fn kill_agent(&mut self, number: usize, back_after: Option<Nanos>) {
        self.record_line(|| format!("agent {number} dies"));
        self.agents[number] = None;
        self.touch(number);
        let now = self.clocks[number].at(self.now);
        self.hosts[number].die(now);
        if let Some(after) = back_after {
            self.befall(self.now.after(after), Fate::AgentReturns(number));
        }
    }
}
