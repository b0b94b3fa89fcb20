//! Messages between controller and agents.
//!
//! Plain values without serialization, which is the task of the link. Instants are on one clock
//! common to the fleet (in one process the process's own; a link between hosts translates them).
//! Instants on the run's clock are marked as such; its zero is [`Command::Commit`]'s `start_at`.

use wavetank_pace::Partition;
use wavetank_plan::{Nanos, Rate};

/// One agent of a fleet: its place in the controller's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(pub u32);

/// Controller to agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerMessage {
    /// The controller that owns the run; a higher epoch supersedes it, a lower one is refused.
    pub epoch: u64,
    /// The request.
    pub order: ControllerPayload,
}

/// A request of the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerPayload {
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
    /// The controller knows the agent's end and all its intervals; nothing needs repeating.
    Settled,
}

/// A command for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Get ready to carry out a share of a plan; send nothing yet.
    Prepare {
        /// SHA-256 of the canonical plan, in hexadecimal.
        plan_hash: String,
        /// The part of the load that is this agent's.
        share: Partition,
    },
    /// Everybody is prepared: the run takes place.
    Commit {
        /// Zero of the run's clock.
        start_at: Nanos,
        /// Nothing is sent before this instant (connections and warm-up precede `start_at`).
        load_from: Nanos,
        /// The agent stops by itself then, whatever happens.
        end_by: Option<Nanos>,
    },
    /// Changes the load from `at` on (on the run's clock).
    Change {
        /// On the run's clock.
        at: Nanos,
        /// The new load.
        change: Change,
    },
    /// No new arrivals and iterations; open work continues.
    Drain,
    /// Cut open work, and end.
    Stop,
}

/// A new load for the phase that runs at the instant of the change; totals of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Open model.
    Rate(Rate),
    /// Closed model: virtual users.
    Users(u64),
}

/// Agent to controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentMessage {
    /// The epoch it answers to.
    pub epoch: u64,
    /// The report.
    pub report: AgentPayload,
}

/// A report of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentPayload {
    /// Command `seq` is carried out. For a `Prepare`: the run ended before the host was ready.
    Accepted {
        /// The command's number.
        seq: u64,
    },
    /// The `Prepare` with this number is carried out.
    Prepared {
        /// The command's number.
        seq: u64,
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
    /// An interval is sealed and stored at the agent. Its data travels separately from these
    /// messages.
    Sealed {
        /// Number of the interval, from 0, without gaps.
        seq: u64,
    },
    /// All is over; repeated until [`ControllerPayload::Settled`].
    Done {
        /// How many intervals were sealed.
        intervals: u64,
        /// The cause of the end.
        cause: EndCause,
    },
}

/// The state of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// The cause of the end of an agent's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndCause {
    /// The plan was carried out.
    Plan,
    /// A drain or stop from the controller.
    Command,
    /// The controller was not heard any more.
    Orphaned,
    /// The commitment's `end_by` passed.
    Overdue,
}

/// Why a command is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// A newer controller owns the agent.
    OlderEpoch {
        /// Its epoch.
        current: u64,
    },
    /// It makes no sense in this state.
    WrongState(AgentState),
    /// Its instant is past or too near.
    TooLate,
    /// The host cannot: one line for the user.
    Host(String),
}
