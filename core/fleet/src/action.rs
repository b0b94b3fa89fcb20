//! [`AgentAction`], [`ControllerAction`]: actions for the hosts of the two machines.

use wavetank_pace::Partition;
use wavetank_plan::Nanos;

use crate::{AgentId, AgentMessage, Change, ControllerMessage, Outcome, RefusalReason};

/// An action for the agent's host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentAction {
    /// Send this to the controller.
    Send(AgentMessage),
    /// Get ready (threads, sockets, memory), then call [`crate::Agent::handle_prepared`].
    Prepare {
        /// The plan's hash.
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
        /// The new load, as the total of the run.
        change: Change,
    },
    /// Start nothing new; call [`crate::Agent::handle_finished`] when the last interval is sealed.
    Drain,
    /// Cut everything, release what was prepared, and call [`crate::Agent::handle_finished`].
    Stop,
}

/// An action for the controller's host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerAction {
    /// Send this to an agent.
    Send {
        /// Whom to.
        to: AgentId,
        /// What.
        message: ControllerMessage,
    },
    /// Take note.
    Notify(ControllerNotice),
}

/// A notable event of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerNotice {
    /// All agents are prepared; the run starts at this instant (zero of the run's clock).
    Committed(Nanos),
    /// An agent sealed an interval. Each is noticed once, in order.
    Sealed {
        /// Which agent.
        agent: AgentId,
        /// The interval's number.
        seq: u64,
    },
    /// An agent is not heard any more.
    Lost(AgentId),
    /// A lost agent is heard again.
    Back(AgentId),
    /// An agent refused a command.
    Refused {
        /// Which agent.
        agent: AgentId,
        /// Why.
        reason: RefusalReason,
    },
    /// The run is over. The last notice.
    Over(Outcome),
}
