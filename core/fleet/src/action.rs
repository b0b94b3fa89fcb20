//! [`AgentAction`], [`ControllerAction`]: actions for the hosts of the two machines.

use wavetank_pace::Partition;
use wavetank_units::Nanos;

use crate::hello::DenialReason;
use crate::journal::JournalRecord;
use crate::message::{AgentId, AgentMessage, Change, ControllerMessage, RefusalReason};
use crate::outcome::{Loss, Outcome, StartRefusal};
use crate::rendezvous::Release;

/// An action for the agent's host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentAction {
    /// Send this to the controller. A link between hosts attaches the data of an interval to its
    /// [`crate::AgentPayload::Sealed`].
    Send(AgentMessage),
    /// The controller does without this agent.
    Denied(DenialReason),
    /// Get ready (threads, sockets, memory), then call [`crate::Agent::handle_prepared`].
    Prepare {
        /// The hash of the plan to prepare. The host reports the hash of the plan it has.
        plan_hash: String,
        /// The agent's part of it.
        share: Partition,
    },
    /// Begin: this instant is the zero of the run's clock.
    StartAt(Nanos),
    /// Change the load.
    Change {
        /// On the run's clock.
        at: Nanos,
        /// Index of the phase.
        phase: u16,
        /// The new load, as the total of the run.
        change: Change,
    },
    /// From this phase on the agent has another share. Only if its capabilities include it.
    Rebalance {
        /// Index of the first phase with the new share.
        phase: u16,
        /// The new share.
        share: Partition,
    },
    /// Let users continue that wait for those of other agents.
    Release(Release),
    /// Start nothing new; call [`crate::Agent::handle_finished`] when the last interval is sealed.
    Drain,
    /// Cut everything, release what was prepared, and call [`crate::Agent::handle_finished`].
    Stop,
    /// The archive has every interval of this agent: the spool may be deleted.
    DeleteSpool,
}

/// An action for the controller's host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerAction {
    /// Append this to the run's journal. It must be durable before any later action is carried out.
    /// If it cannot be, or another controller owns the run by now, the host ends without carrying
    /// out anything more.
    Journal(JournalRecord),
    /// Send this to an agent.
    Send {
        /// Whom to.
        to: AgentId,
        /// What.
        message: ControllerMessage,
    },
    /// Take note.
    Notify(ControllerNotice),
    /// Complete the archive, make it durable, and call [`crate::Controller::handle_archived`], or
    /// [`crate::Controller::handle_archive_failed`].
    Archive(Outcome),
}

/// A notable event of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerNotice {
    /// An agent of this name takes part.
    Joined {
        /// Which agent.
        agent: AgentId,
        /// Its name.
        name: String,
    },
    /// All agents are prepared; the run starts at this instant (zero of the run's clock).
    Committed(Nanos),
    /// An agent's interval has arrived. Each is noticed once, in order.
    Delivered {
        /// Which agent.
        agent: AgentId,
        /// The interval's number.
        seq: u64,
    },
    /// An agent sealed an interval and could not store it. Each is noticed once, in order.
    Unstored {
        /// Which agent.
        agent: AgentId,
        /// The interval's number.
        seq: u64,
    },
    /// An interval of the whole fleet is sealed: thresholds may read it. Each is noticed once, in
    /// order.
    Sealed {
        /// The interval's number.
        seq: u64,
        /// Agents without data in it, because they are lost or late.
        missing: Vec<AgentId>,
    },
    /// An agent's data arrived after the interval was sealed without it: mark it as amended.
    Amended {
        /// Which agent.
        agent: AgentId,
        /// The interval's number.
        seq: u64,
    },
    /// An agent is not heard any more.
    Lost(Loss),
    /// A lost agent is heard again.
    Back(AgentId),
    /// The shares changed.
    Rebalanced {
        /// Index of the first phase with the new shares.
        phase: u16,
        /// The new shares of the agents that remain.
        shares: Vec<(AgentId, Partition)>,
    },
    /// An agent refused a command.
    Refused {
        /// Which agent.
        agent: AgentId,
        /// Why.
        reason: RefusalReason,
    },
    /// An agent cannot take part, or is missing.
    CannotStart(StartRefusal),
    /// An agent's spool differs from its part of the archive. The spool is kept.
    DigestDiffers(AgentId),
    /// The run is over. The last notice.
    Over(Outcome),
}
