//! [`AgentView`]: the agents of a run as a terminal or a page shows them.

use wavetank_pace::Partition;
use wavetank_units::Nanos;

use super::Controller;
use crate::message::{AgentId, AgentState};
use crate::peer::Peer;

/// An agent as its controller knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentView {
    /// Its address; `None` if it has not reported since the controller was restarted.
    pub agent: Option<AgentId>,
    /// Its name.
    pub name: String,
    /// Its share.
    pub share: Partition,
    /// The state that it last reported.
    pub state: AgentState,
    /// Whether it is thought lost. Its data is stale since `heard_at`.
    pub lost: bool,
    /// When it was heard last, on the controller's clock.
    pub heard_at: Nanos,
    /// How many of its intervals arrived.
    pub intervals: u64,
    /// Its clock minus the controller's, and most that this is wrong by now.
    pub clock: Option<(Nanos, Nanos)>,
}

impl Controller {
    /// The state of an agent, if known.
    pub fn state(&self, agent: AgentId) -> Option<AgentState> {
        self.index_of(agent).map(|index| self.peers[index].state())
    }

    /// All agents that take part, in the order of their shares.
    pub fn agents(&self, now: Nanos) -> Vec<AgentView> {
        let view = |peer: &Peer| AgentView {
            agent: peer.id,
            name: peer.name.clone(),
            share: peer.share,
            state: peer.state(),
            lost: peer.lost,
            heard_at: peer.heard_at,
            intervals: peer.seen,
            clock: peer.clock.error_at(now).map(|error| (peer.clock.to_agent(now) - now, error)),
        };
        self.peers.iter().map(view).collect()
    }
}
