//! [`JournalRecord`]: what a controller must have stored before it acts, and [`RunHistory`], what
//! a restarted controller reads from it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use wavetank_pace::Partition;
use wavetank_units::Nanos;

use crate::message::{Change, Done, RunId};
use crate::outcome::Loss;
use crate::wire_values::{instant, optional_partitions, partition};

/// One record of a run's journal. Instants are on the controller's clock, which continues through
/// a restart of the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalRecord {
    /// A controller owns the run.
    Owned {
        /// The run.
        run: RunId,
        /// The controller's epoch.
        epoch: u64,
        /// SHA-256 of the canonical plan, in hexadecimal.
        plan_hash: String,
    },
    /// Before the first offer.
    Offered {
        /// The agents in the order of their shares.
        agents: Vec<JournalAgent>,
    },
    /// Before the first commitment is sent.
    Committed {
        /// Zero of the run's clock.
        #[serde(with = "instant", rename = "start_at_ns")]
        start_at: Nanos,
        /// Nothing is sent before.
        #[serde(with = "instant", rename = "load_from_ns")]
        load_from: Nanos,
    },
    /// Before a change is sent.
    Changed {
        /// On the run's clock.
        #[serde(with = "instant", rename = "at_ns")]
        at: Nanos,
        /// Index of the phase.
        #[serde(default)]
        phase: u16,
        /// The new load.
        change: Change,
    },
    /// Before new shares are sent.
    Rebalanced {
        /// Index of the first phase with the new shares.
        phase: u16,
        /// Its start, on the run's clock.
        #[serde(with = "instant", rename = "at_ns")]
        at: Nanos,
        /// Each agent's share, in the order of the agents; `None` for one that is lost.
        #[serde(with = "optional_partitions")]
        shares: Vec<Option<Partition>>,
    },
    /// An agent is lost.
    Lost(Loss),
    /// An agent has ended, and all its intervals have arrived.
    Ended {
        /// Its name.
        name: String,
        /// Its own report.
        done: Done,
    },
    /// Before an early end is ordered: drain, or stop.
    Ending {
        /// Open work continues.
        drain: bool,
    },
    /// The archive is durable; spools may be deleted.
    Archived,
    /// The run is over.
    Over,
}

/// An agent in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct JournalAgent {
    /// Its name.
    pub name: String,
    /// Its process.
    pub instance: u64,
    /// Its share.
    #[serde(with = "partition")]
    pub share: Partition,
    /// The number that its share is proportional to.
    pub weight: u64,
}

/// The course of a run up to the end of its controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunHistory {
    /// The last epoch.
    pub epoch: u64,
    /// The agents with their last shares. Empty: nothing was offered.
    pub agents: Vec<JournalAgent>,
    /// Zero of the run's clock, and the instant before which nothing is sent.
    pub committed: Option<(Nanos, Nanos)>,
    /// The early end that was ordered: drain (true) or stop.
    pub ending: Option<bool>,
    /// Agents that were lost.
    pub losses: Vec<Loss>,
    /// The ends of agents, by name.
    pub ended: BTreeMap<String, Done>,
    /// Changes and new shares, in order.
    pub adjustments: Vec<JournalRecord>,
    /// Phases from which on shares changed.
    pub rebalanced: Vec<u16>,
    /// Agents that gave up their shares then.
    pub fenced: BTreeSet<String>,
    /// The run ended.
    pub over: bool,
}

impl RunHistory {
    /// Reads a journal.
    pub fn from_records<'a>(records: impl IntoIterator<Item = &'a JournalRecord>) -> Self {
        let mut history = Self::default();
        for record in records {
            history.add(record);
        }
        history
    }

    fn add(&mut self, record: &JournalRecord) {
        match record {
            JournalRecord::Owned { epoch, .. } => self.epoch = self.epoch.max(*epoch),
            JournalRecord::Offered { agents } => self.agents.clone_from(agents),
            JournalRecord::Committed { start_at, load_from } => {
                self.committed = Some((*start_at, *load_from));
            }
            JournalRecord::Changed { .. } => self.adjustments.push(record.clone()),
            JournalRecord::Rebalanced { phase, shares, .. } => {
                self.adjustments.push(record.clone());
                self.rebalanced.push(*phase);
                for (agent, share) in self.agents.iter_mut().zip(shares) {
                    agent.share = share.unwrap_or(agent.share);
                    if share.is_none() {
                        self.fenced.insert(agent.name.clone());
                    }
                }
            }
            JournalRecord::Lost(loss) => self.losses.push(loss.clone()),
            JournalRecord::Ended { name, done } => {
                self.ended.insert(name.clone(), done.clone());
            }
            JournalRecord::Ending { drain } => self.ending = Some(*drain && self.ending != Some(false)),
            JournalRecord::Archived => {}
            JournalRecord::Over => self.over = true,
        }
    }
}
