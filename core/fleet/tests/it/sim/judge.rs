//! What holds in every world, whatever happened in it.

use std::collections::BTreeMap;

use wavetank_fleet::constants::{BEAT, ORPHAN_DRAIN_MAX, ORPHAN_GRACE, START_TOLERANCE};
use wavetank_fleet::{AgentEnd, Change, EndCause, FleetStatus, Release};
use wavetank_pace::Partition;
use wavetank_units::Nanos;

use crate::sim::host::{Disk, Host};
use crate::sim::world::{World, name};

impl World {
    pub(crate) fn judge_always(&self) {
        assert!(
            self.outcome.is_some() || self.controller_died.is_some() || !self.zombies.is_empty(),
            "a run with a controller ends"
        );
        self.judge_load();
        self.judge_shares();
        self.judge_meetings();
        self.judge_outcome();
    }

    /// Waits end once: each round of the fleet is released at most once on a host, in order, and at
    /// one instant on all of them.
    fn judge_meetings(&self) {
        let mut released: BTreeMap<u32, Release> = BTreeMap::new();
        for (number, host) in self.records().into_iter().enumerate() {
            let met = host.users.iter().flat_map(|users| &users.met);
            let rounds: Vec<u32> = met.clone().map(|met| met.release.number).collect();
            assert!(rounds.is_sorted_by(|one, next| one < next), "agent {number}: rounds {rounds:?}");
            // One that a former controller had released elsewhere is caught up with alone.
            for release in met.map(|met| met.release).filter(|release| release.of > 0 || release.by_wait) {
                let first = released.entry(release.number).or_insert(release);
                let is_same =
                    (first.at, first.of, first.by_wait) == (release.at, release.of, release.by_wait);
                assert!(is_same, "agent {number}: {release:?} elsewhere: {first:?}");
            }
        }
    }

    /// P2 and P3: agents start together, and no load is left.
    fn judge_load(&self) {
        let mut starts = Vec::new();
        for (number, host) in self.records().into_iter().enumerate() {
            let clock = self.clocks[number];
            assert!(host.zero.is_none() || host.gone.is_some(), "agent {number} was left under load");
            let Some(from) = host.load_from else { continue };
            starts.push(clock.world(from));
            let (to, zero) = (host.load_to.expect("it ended"), host.zero.expect("it started"));
            let hard_end = zero.after(self.setup.end_by.expect("the plan ends")).after(BEAT);
            let may_wake_late = self.slept(number);
            assert!(to <= hard_end.after(may_wake_late), "agent {number}: load beyond its hard end");
        }
        if let (Some(first), Some(last)) = (starts.iter().min(), starts.iter().max()) {
            assert!(*last - *first <= START_TOLERANCE, "starts {} apart", *last - *first);
        }
    }

    /// How long an agent's process was suspended at most.
    fn slept(&self, number: usize) -> Nanos {
        let sleeps = self.scenario.faults.iter().filter_map(|fault| match *fault {
            crate::sim::scenario::Fault::Suspend { agent, len, .. } if agent == number => Some(len),
            _ => None,
        });
        sleeps.fold(Nanos::ZERO, Nanos::after)
    }

    /// P1: in each phase every arrival has exactly one owner, unless an agent is lost.
    fn judge_shares(&self) {
        let records = self.records();
        if records.iter().any(|host| host.zero.is_none()) {
            return;
        }
        for phase in [0, 1] {
            let is_changed = phase > 0 && self.rebalanced.contains(&phase);
            let share = |host: &&Host| -> Option<Partition> {
                let current = host.shares.iter().rfind(|(from, _)| *from <= phase).copied()?;
                // An agent that was given up did not get a new share.
                (!is_changed || current.0 == phase).then_some(current.1)
            };
            let shares: Vec<Partition> = records.iter().filter_map(share).collect();
            if is_changed && self.outcome.as_ref().is_none_or(|outcome| !outcome.rebalanced.contains(&phase))
            {
                continue;
            }
            for index in 0..500 {
                let owners = shares.iter().filter(|share| share.contains(index)).count();
                // An agent may have died before its new share reached it.
                let width: u64 = shares.iter().map(|share| share.width).sum();
                let is_covered = !is_changed || shares.first().is_some_and(|share| share.of == width);
                let expected = usize::from(is_covered);
                assert!((expected..=1).contains(&owners), "arrival {index} of phase {phase}: {shares:?}");
            }
        }
    }

    /// P5 and P6: the outcome says what is missing, and the archive has the rest.
    fn judge_outcome(&self) {
        let disks: BTreeMap<String, &Disk> =
            self.disks.iter().enumerate().map(|(number, disk)| (name(number), disk)).collect();
        for (name, archive) in &self.disk.archive {
            let disk = disks.get(name).expect("an agent of the fleet");
            let is_known = archive.iter().all(|interval| disk.spool.contains(interval));
            assert!(is_known && archive.is_sorted() && archive.len() <= disk.spool.len(), "{name}'s archive");
        }
        let Some(outcome) = &self.outcome else { return };
        if outcome.status == FleetStatus::NotStarted {
            assert!(self.hosts.iter().all(|host| host.load_from.is_none()), "not started, but load was sent");
            return;
        }
        for (number, host) in self.records().into_iter().enumerate() {
            let own = name(number);
            let agent = outcome.agents.iter().find(|agent| agent.name == own).expect("in the fleet");
            if let AgentEnd::Sealed(cause) = agent.end {
                assert_eq!(agent.intervals, self.disks[number].sealed, "sealed, but intervals are missing");
                let archive = self.disk.archive.get(&agent.name).map_or(&[][..], Vec::as_slice);
                assert_eq!(archive, self.disks[number].spool, "the archive of agent {number}");
                let carried_out =
                    host.load_to.zip(host.zero).is_some_and(|(to, zero)| to >= zero.after(host.plan));
                assert!(cause != EndCause::Plan || carried_out, "called carried out, but was not");
            }
        }
        if outcome.status == FleetStatus::Complete {
            assert!(outcome.agents.iter().all(wavetank_fleet::AgentOutcome::is_complete));
            assert!(self.records().iter().all(|host| host.zero.is_some()), "complete without a start");
            if self.controller_died.is_none() {
                self.judge_changes();
            }
        }
    }

    /// Returns for each agent the host that took part in the run: the present one, or an earlier
    /// one.
    pub(crate) fn records(&self) -> Vec<&Host> {
        let took_part = |number| {
            let mut hosts =
                self.fallen.iter().filter(move |(fallen, _)| *fallen == number).map(|(_, host)| host);
            hosts.find(|host| host.zero.is_some())
        };
        self.hosts.iter().enumerate().map(|(number, host)| took_part(number).unwrap_or(host)).collect()
    }

    /// All hosts have carried out all changes that fell into their load, in order.
    fn judge_changes(&self) {
        for (number, host) in self.records().into_iter().enumerate() {
            let end = host.load_to.zip(host.zero).map_or(Nanos::ZERO, |(to, zero)| to - zero);
            let within = |changes: &[(Nanos, Change)]| -> Vec<_> {
                changes.iter().copied().filter(|change| change.0 < end).collect()
            };
            let changes = within(&host.changes);
            assert_eq!(changes, within(&self.changes), "changes of agent {number}, which ended at {end}");
        }
    }

    /// P6: after the rest was fetched, the archive has every stored interval exactly once.
    pub(crate) fn judge_archive(&self) {
        for (number, disk) in self.disks.iter().enumerate() {
            let archive = self.disk.archive.get(&name(number)).map_or(&[][..], Vec::as_slice);
            assert_eq!(archive, disk.spool, "the final archive of agent {number}");
        }
    }

    /// P3: without a controller, load ends when the lease does.
    pub(crate) fn judge_orphans(&self, died: Nanos) {
        for (number, host) in self.records().into_iter().enumerate() {
            if host.load_from.is_none() {
                continue;
            }
            let end = self.clocks[number].world(host.load_to.expect("it ends"));
            let slack = Nanos::from_secs(2);
            // A lease is at most a beat old when the controller dies.
            assert!(end >= died.after(ORPHAN_GRACE - slack), "drained too early: {died} {end}");
            assert!(end <= died.after(ORPHAN_GRACE + slack), "orphan load: {died} {end}");
            let gone = self.clocks[number].world(host.gone.expect("it ends"));
            assert!(gone <= end.after(ORPHAN_DRAIN_MAX + slack));
        }
    }
}
