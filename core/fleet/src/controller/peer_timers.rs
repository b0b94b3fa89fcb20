//! [`PeerTimers`]: when the first agent needs something.

use wavetank_units::Nanos;

use crate::peer::Peer;

/// A lower bound of the instants at which commands are repeated and clocks are probed. It is exact
/// after each timeout. Looking at all agents for each message would take time with the square of
/// the fleet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerTimers {
    first: Option<Nanos>,
}

impl PeerTimers {
    pub(super) const fn first(self) -> Option<Nanos> {
        self.first
    }

    /// Something has happened to one agent.
    pub(super) fn add(&mut self, peer: &Peer) {
        self.first = [self.first, due(peer)].into_iter().flatten().min();
    }

    /// Looks at all agents.
    pub(super) fn set(&mut self, peers: &[Peer]) {
        self.first = peers.iter().filter_map(due).min();
    }
}

fn due(peer: &Peer) -> Option<Nanos> {
    [peer.resend_at(), peer.clock.send_at()].into_iter().flatten().min()
}
