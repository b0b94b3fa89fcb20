//! What controller and agents say to each other.
//!
//! Plain values, without serialization: that is the link's business. Instants are on one clock common to
//! the fleet (in one process the process's own; a link between hosts translates them), except where the
//! run's clock is named: its zero is [`Command::Commit`]'s `start_at`.

use wavetank_pace::Partition;
use wavetank_plan::{Nanos, Rate};

/// One agent of a fleet: its place in the controller's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(pub u32);

/// Controller to agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerMessage {
    /// Who owns the run; a higher one supersedes, a lower one is refused.
    pub epoch: u64,
    /// What is wanted.
    pub order: ControllerPayload,
}

/// What the controller wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerPayload {
    /// A command. Numbers begin at 1 in each epoch and have no gaps; a repeated one gets its old answer and
    /// has no effect.
    Command {
        /// The command's number.
        seq: u64,
        /// The command.
        command: Command,
    },
    /// The controller lives; the agent may go on. `seen`: that many sealed intervals have been noticed.
    Lease {
        /// Intervals 0 to `seen − 1` are known to the controller.
        seen: u64,
    },
    /// The controller knows the agent's end and all its intervals; nothing needs repeating.
    Settled,
}

/// What an agent shall do.
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
        /// Nothing is sent before (connections and warm-up come before `start_at`).
        load_from: Nanos,
        /// The agent stops by itself then, whatever happens.
        end_by: Option<Nanos>,
    },
    /// From `at` on (on the run's clock) the load is another one.
    Change {
        /// On the run's clock.
        at: Nanos,
        /// The new load.
        change: Change,
    },
    /// No new arrivals and iterations; what is under way goes on.
    Drain,
    /// Cut what is under way, and end.
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
    /// What is reported.
    pub report: AgentPayload,
}

/// What an agent reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentPayload {
    /// Command `seq` is carried out; a `Prepare`, that the end came before the host was ready.
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
        /// Where the agent stands.
        state: AgentState,
    },
    /// An interval is sealed, and safe with the agent; its data travels beside these messages.
    Sealed {
        /// Number of the interval, from 0, without gaps.
        seq: u64,
    },
    /// All is over; repeated until [`ControllerPayload::Settled`].
    Done {
        /// How many intervals were sealed.
        intervals: u64,
        /// What brought the end.
        cause: EndCause,
    },
}

/// Where an agent stands.
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

/// What brought an agent's run to its end.
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
