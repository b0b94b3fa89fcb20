//! Messages between controller and agents.
//!
//! Plain values; `crate::wire` has their encoding. Instants in messages are on the agent's clock:
//! the controller measures the offset of each agent's clock and translates. Instants on the run's
//! clock are marked as such; its zero is [`Command::Commit`]'s `start_at`.

use serde::{Deserialize, Serialize};
use wavetank_pace::Partition;
use wavetank_plan::LoadChange;
use wavetank_units::{Nanos, Rate};

use crate::hello::{DenialReason, Hello};
use crate::rendezvous::{Release, WaitingUsers};
use crate::wire_values::{instant, optional_instant, partition, rate};

/// One agent of a fleet, as the link addresses it. A link gives each connection its own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(pub u32);

/// One run. Numbers of different runs differ, and none is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub u64);

impl RunId {
    /// No run: the agent is free.
    pub const NONE: Self = Self(0);
}

/// Controller to agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerMessage {
    /// The run.
    pub run: RunId,
    /// The controller that owns the run; a higher epoch supersedes it, a lower one is refused.
    pub epoch: u64,
    /// The request.
    pub order: ControllerPayload,
}

/// A request of the controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControllerPayload {
    /// Requests the time of the agent's clock.
    Probe {
        /// Number of the probe.
        id: u64,
    },
    /// The agent does not take part.
    Denied {
        /// Why.
        reason: DenialReason,
    },
    /// A command. Numbers start at 1 in each epoch and have no gaps. A repeated command gets its
    /// old answer and has no effect.
    Command {
        /// The command's number.
        seq: u64,
        /// The command.
        command: Command,
    },
    /// The controller is alive; the agent may continue. `seen`: number of sealed intervals that the
    /// controller has seen.
    Lease {
        /// Intervals 0 to `seen − 1` are known to the controller.
        seen: u64,
    },
    /// The controller has the agent's end and all its intervals, stored durably. Nothing needs
    /// repeating, and the spool may be deleted.
    Settled {
        /// Digest of this agent's intervals in the archive, equal to that in the agent's
        /// [`AgentPayload::Done`]. Empty without a spool.
        digest: String,
    },
}

/// A command for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Get ready to carry out a share of a plan; send nothing yet. The plan's text travels
    /// separately, or the link attaches it.
    Offer {
        /// SHA-256 of the canonical plan, in hexadecimal.
        plan_hash: String,
        /// The part of the load that is this agent's.
        #[serde(with = "partition")]
        share: Partition,
        /// The agent drains this long after the controller's last sign of life.
        #[serde(with = "instant", rename = "orphan_grace_ns")]
        orphan_grace: Nanos,
    },
    /// A restarted controller, or one that meets a restarted agent, requests the agent's state.
    Resume,
    /// All agents are prepared: the run takes place.
    Commit {
        /// Zero of the run's clock.
        #[serde(with = "instant", rename = "start_at_ns")]
        start_at: Nanos,
        /// Nothing is sent before this instant (connections and warm-up precede `start_at`).
        #[serde(with = "instant", rename = "load_from_ns")]
        load_from: Nanos,
        /// The agent stops by itself then, whatever happens.
        #[serde(with = "optional_instant", rename = "end_by_ns")]
        end_by: Option<Nanos>,
    },
    /// Changes the load from `at` on (on the run's clock).
    Change {
        /// On the run's clock.
        #[serde(with = "instant", rename = "at_ns")]
        at: Nanos,
        /// Index of the phase.
        #[serde(default)]
        phase: u16,
        /// The new load.
        change: Change,
    },
    /// The agent has another share of the load from a phase on.
    Rebalance {
        /// Index of the first phase with the new share.
        phase: u16,
        /// Its start, on the run's clock.
        #[serde(with = "instant", rename = "at_ns")]
        at: Nanos,
        /// The new share.
        #[serde(with = "partition")]
        share: Partition,
    },
    /// Users that wait for those of other agents continue.
    Release(Release),
    /// No new arrivals and iterations; open work continues.
    Drain,
    /// Cut open work, and end.
    Stop,
}

/// A new load for a phase that runs at the instant of the change; totals of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Open loop.
    Rate(#[serde(with = "rate")] Rate),
    /// Closed loop: virtual users.
    Users(u64),
    /// Held connections.
    Connections(u64),
}

impl From<Change> for LoadChange {
    fn from(change: Change) -> Self {
        match change {
            Change::Rate(rate) => Self::Rate(rate),
            Change::Users(users) => Self::Users(users),
            Change::Connections(connections) => Self::Connections(connections),
        }
    }
}

impl From<LoadChange> for Change {
    fn from(change: LoadChange) -> Self {
        match change {
            LoadChange::Rate(rate) => Self::Rate(rate),
            LoadChange::Users(users) => Self::Users(users),
            LoadChange::Connections(connections) => Self::Connections(connections),
        }
    }
}

/// Agent to controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentMessage {
    /// The run that it concerns; [`RunId::NONE`] in the [`Hello`] of a free agent.
    pub run: RunId,
    /// The epoch it answers to.
    pub epoch: u64,
    /// The report.
    pub report: AgentPayload,
}

/// A report of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentPayload {
    /// The agent introduces itself: once a second until a controller has a command for it, and
    /// again when its controller is silent.
    Hello(Hello),
    /// Answer to a probe.
    Clock {
        /// Number of the probe.
        id: u64,
        /// Time of the agent's clock when it answered.
        #[serde(with = "instant", rename = "at_ns")]
        at: Nanos,
    },
    /// Command `seq` is carried out. For an `Offer`: the run ended before the host was ready.
    Accepted {
        /// The command's number.
        seq: u64,
    },
    /// The `Offer` with this number is carried out.
    Prepared {
        /// The command's number.
        seq: u64,
    },
    /// Answer to a [`Command::Resume`].
    Resumed {
        /// The command's number.
        seq: u64,
        /// The agent's state.
        state: AgentState,
        /// The changes and new shares it has received.
        adjustments: Adjustments,
    },
    /// Command `seq` is not carried out.
    Refused {
        /// The command's number.
        seq: u64,
        /// Why.
        reason: RefusalReason,
    },
    /// Heartbeat, once a second and at each change of state.
    State {
        /// The agent's state.
        state: AgentState,
    },
    /// An interval is sealed and stored in the agent's spool. A link between hosts attaches the
    /// interval's data to this report; the controller's host stores it before it passes the report
    /// on. Inside a process the data travels separately.
    Sealed {
        /// Number of the interval, from 0, without gaps.
        seq: u64,
    },
    /// An interval is sealed, but its data could not be stored and is lost.
    Unstored {
        /// Number of the interval, in the same sequence.
        seq: u64,
    },
    /// The users that wait at rendezvous for those of other agents, whenever that changes, and
    /// once a second.
    Waiting {
        /// All points where users wait, or may be waited for.
        points: Vec<WaitingUsers>,
    },
    /// All is over; repeated until [`ControllerPayload::Settled`].
    Done(Done),
    /// Answer to [`ControllerPayload::Settled`]: the spool is gone, or there was none.
    Cleared,
    /// Answer to [`ControllerPayload::Settled`] with another digest: the spool is kept.
    Kept {
        /// The digest of the agent's intervals.
        digest: String,
    },
}

/// The end of an agent's part of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Done {
    /// How many intervals were sealed.
    pub intervals: u64,
    /// The cause of the end.
    pub cause: EndCause,
    /// When the first request or connection was begun, if the host measures it.
    #[serde(with = "optional_instant", rename = "first_sent_ns")]
    pub first_sent: Option<Nanos>,
    /// Digest of the stored intervals, in order; empty without a spool.
    pub digest: String,
    /// The changes and new shares that it received.
    pub adjustments: Adjustments,
}

/// How many changes and new shares an agent received. A controller that was restarted repeats
/// those that are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Adjustments {
    /// All, in the order in which they were given.
    pub received: u64,
    /// Those that it refused, because they were too late or it cannot.
    pub refused: u64,
}

/// The state of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Knows no plan, or is getting ready.
    Idle,
    /// Ready to carry out its share.
    Prepared,
    /// Will start at the agreed instant.
    Committed,
    /// Sends its share.
    Running,
    /// Starts nothing new.
    Draining,
    /// The last interval is sealed.
    Sealed,
}

impl AgentState {
    /// The name on screens.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Prepared => "prepared",
            Self::Committed => "committed",
            Self::Running => "running",
            Self::Draining => "draining",
            Self::Sealed => "sealed",
        }
    }
}

/// The cause of the end of an agent's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndCause {
    /// The plan was carried out.
    Plan,
    /// A drain or stop from the controller.
    Command,
    /// It ended before it was committed, for whatever cause.
    NotStarted,
    /// The controller was not heard any more.
    Orphaned,
    /// The commitment's `end_by` passed.
    Overdue,
    /// The agent's process ended early; its spool was found later.
    Crashed,
}

/// Why a command is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// A newer controller owns the agent.
    OlderEpoch {
        /// Its epoch.
        current: u64,
    },
    /// The agent takes part in another run.
    Busy {
        /// That run.
        run: RunId,
    },
    /// The plan that reached the agent is not the one of the offer.
    PlanHash {
        /// Hash of the plan at the agent.
        found: String,
    },
    /// It makes no sense in this state.
    WrongState(AgentState),
    /// Its instant is past or too near.
    TooLate,
    /// The agent's host cannot change its share under load.
    Unsupported,
    /// The host cannot: one line for the user per reason.
    Host(Vec<String>),
}
