//! Handshakes, greetings, pings, messages and packets of protocols.

use wavetank_driver::{HandshakeInfo, PacketCounts};
use wavetank_measure::PacketCounters;

use super::{Recorder, agreed};

impl Recorder {
    /// Records the greeting of a protocol that took `ns`.
    pub(crate) fn greeted(&mut self, phase: u16, target: u16, ns: u64) {
        self.target(phase, target).hello.record(ns);
    }

    /// Counts a ping.
    pub(crate) fn pinged(&mut self, phase: u16, target: u16) {
        self.target(phase, target).pings_sent += 1;
    }

    /// Records the round trip of a ping.
    pub(crate) fn ping_answered(&mut self, phase: u16, target: u16, ns: u64) {
        self.target(phase, target).ping.record(ns);
    }

    /// Counts messages that were sent and received.
    pub(crate) fn messages(&mut self, phase: u16, target: u16, (sent, received): (u64, u64)) {
        let messages = &mut self.target(phase, target).messages;
        messages.sent += sent;
        messages.received += received;
    }

    /// Sets the packets of QUIC since the start.
    pub(crate) const fn set_packets(&mut self, total: PacketCounts) {
        let before = self.packets_before;
        self.current.packets =
            PacketCounters { sent: total.sent - before.sent, lost: total.lost - before.lost };
    }

    /// Counts a failed TLS handshake.
    pub(crate) fn handshake_failed(&mut self, phase: u16, target: u16) {
        self.target(phase, target).handshakes.failed += 1;
    }

    /// Records a TLS handshake that was completed in `ns`.
    pub(crate) fn secured(&mut self, phase: u16, target: u16, ns: u64, secured: Option<&HandshakeInfo>) {
        self.target(phase, target).tls.record(ns);
        if let Some(secured) = secured {
            self.agreed(phase, target, secured);
        }
    }

    /// Counts a TLS handshake with these results, which has no time of its own.
    pub(crate) fn agreed(&mut self, phase: u16, target: u16, secured: &HandshakeInfo) {
        let index = self.target_index(phase, target);
        let known = self.agreed.take().filter(|(last, _)| last == secured);
        let (_, agreed) = self.agreed.insert(known.unwrap_or_else(|| (*secured, agreed(secured))));
        self.current.targets[index].handshakes.add(agreed, 1);
    }
}
