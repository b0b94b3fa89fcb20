//! [`RunSetup`]: the controller's settings of a run.

use wavetank_units::Nanos;

use crate::constants::{GATHER_MAX, ORPHAN_GRACE, PREPARE_MAX, START_TOLERANCE};
use crate::message::RunId;

/// The controller's settings of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSetup {
    /// The run; not [`RunId::NONE`].
    pub run: RunId,
    /// Higher than that of every earlier controller of these agents; positive.
    pub epoch: u64,
    /// Version of the program. Agents of another version are refused.
    pub version: String,
    /// SHA-256 of the canonical plan, in hexadecimal.
    pub plan_hash: String,
    /// The agents that take part.
    pub members: Members,
    /// Time limit for the agents to report.
    pub gather_max: Nanos,
    /// Time limit for preparing; opening many connections takes time.
    pub prepare_max: Nanos,
    /// From the commitment to the first message sent: time for the command to reach every agent.
    pub margin: Nanos,
    /// From the first data sent (connections, warm-up) to the zero of the run's clock.
    pub lead_in: Nanos,
    /// Hard end on the run's clock, if the plan has one: its last arrival plus the drain, with some
    /// slack.
    pub end_by: Option<Nanos>,
    /// How the clocks of controller and agents relate.
    pub clocks: Clocks,
    /// What the loss of an agent under load means.
    pub on_loss: LossPolicy,
    /// Whether the shares of lost agents go to the others at the start of the next phase.
    pub rebalance: bool,
    /// The start of each phase on the run's clock, in order of time.
    pub phase_starts: Vec<Nanos>,
    /// An agent drains this long after the controller's last sign of life.
    pub orphan_grace: Nanos,
    /// Agents keep spools, which may be deleted once the archive is durable.
    pub spools: bool,
}

/// The agents that take part in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// The first agents that report.
    Count(u32),
    /// These agents, all of them.
    Named(Vec<Member>),
}

/// An agent of a fleet file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its share is proportional to this number. Without one: by calibration, or by CPUs.
    pub weight: Option<u64>,
}

impl Member {
    /// An agent without a configured weight.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), weight: None }
    }
}

/// How the clocks of controller and agents relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// All are one clock: one process.
    Shared,
    /// Each host has its own. Their offsets are measured before the start, and the run is refused
    /// if two agents may start further apart than this.
    Measured {
        /// Most that two agents may start apart.
        tolerance: Nanos,
    },
}

impl Clocks {
    /// Separate clocks and the default tolerance.
    pub const MEASURED: Self = Self::Measured { tolerance: START_TOLERANCE };
}

/// What the loss of an agent under load means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossPolicy {
    /// The others continue, and the run is incomplete.
    #[default]
    Incomplete,
    /// The run counts as complete if at most this part of the load is lost.
    Tolerate {
        /// In percent of the whole load.
        percent: u32,
    },
    /// The run is stopped.
    Abort,
}

impl RunSetup {
    /// One agent inside this process, with the whole load: no lead-in, no hard end, 10 ms margin.
    pub fn new(epoch: u64, version: impl Into<String>, plan_hash: impl Into<String>) -> Self {
        Self {
            run: RunId(1),
            epoch,
            version: version.into(),
            plan_hash: plan_hash.into(),
            members: Members::Count(1),
            gather_max: GATHER_MAX,
            prepare_max: PREPARE_MAX,
            margin: Nanos::from_millis(10),
            lead_in: Nanos::ZERO,
            end_by: None,
            clocks: Clocks::Shared,
            on_loss: LossPolicy::Incomplete,
            rebalance: false,
            phase_starts: Vec::new(),
            orphan_grace: ORPHAN_GRACE,
            spools: false,
        }
    }

    /// A run of these agents on hosts of their own: a second of margin, measured clocks and spools.
    pub fn fleet(
        run: RunId,
        epoch: u64,
        version: impl Into<String>,
        plan_hash: impl Into<String>,
        members: Members,
    ) -> Self {
        let clocks = Clocks::MEASURED;
        let margin = Nanos::SECOND;
        Self { run, members, margin, clocks, spools: true, ..Self::new(epoch, version, plan_hash) }
    }

    /// Number of agents that take part.
    pub(crate) fn required(&self) -> usize {
        match &self.members {
            Members::Count(count) => *count as usize,
            Members::Named(members) => members.len(),
        }
    }

    /// The member of this name, if any agent or this one may take part.
    pub(crate) fn member(&self, name: &str) -> Option<Member> {
        match &self.members {
            Members::Count(_) => Some(Member::new(name)),
            Members::Named(members) => members.iter().find(|member| member.name == name).cloned(),
        }
    }

    /// Index of the phase at an instant of the run's clock.
    pub(crate) fn phase_at(&self, at: Nanos) -> Option<u16> {
        let begun = self.phase_starts.partition_point(|start| *start <= at);
        begun.checked_sub(1).map(|index| index as u16)
    }
}
