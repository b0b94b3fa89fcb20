//! The largest packet of a path.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};

use wavetank_driver::Clock;
use wavetank_netbench::{
    ClientRequest, Direction, MtuProbe, MtuResult, MtuSearch, UDP_HEADER_BYTES, UdpPacket,
};
use wavetank_record::MtuDoc;
use wavetank_units::{Nanos, UserError};

use super::NetClient;
use crate::pacing::wait_readable;
use crate::server::{forbid_fragments, kernel_mtu};

/// Time for an answer. On a path with a longer round-trip time, every probe would count as lost,
/// so the search begins with a packet that every path carries.
const ANSWER_WAIT: Nanos = Nanos::from_millis(250);
/// Longest search, ms: 40 probes that are lost three times.
const SEARCH_MS: u64 = 40_000;
/// Largest IP packet.
const PACKET_MAX: u32 = 65_535;

impl NetClient {
    /// Searches the largest packet in both directions.
    pub(super) fn measure_mtu(&mut self) -> Result<MtuDoc, UserError> {
        let test = self.next_test();
        let socket = self.open_udp(&ClientRequest::MtuProbe { test, millis: SEARCH_MS }, test)?;
        forbid_fragments(&socket, self.server);
        let kernel = kernel_mtu(&socket, self.server);
        let mut probe = Prober {
            socket: &socket,
            server: self.server,
            key: self.key.flow_key(test),
            clock: Clock::starting_now(),
            number: 0,
            stop: &self.stop,
        };
        let forward = probe.search(Direction::Forward, kernel.unwrap_or(PACKET_MAX));
        let reverse = probe.search(Direction::Reverse, PACKET_MAX);
        self.collect_udp(test, 0)?;
        let named = [(Direction::Forward, forward), (Direction::Reverse, reverse)];
        let black_holes = named.iter().filter(|(_, result)| result.is_black_hole);
        Ok(MtuDoc {
            forward: forward.largest,
            reverse: reverse.largest,
            kernel: kernel_mtu(&socket, self.server),
            black_holes: black_holes.map(|(direction, _)| direction.name().to_owned()).collect(),
            probes: forward.probes + reverse.probes,
        })
    }
}

/// What became of a probe.
enum Answer {
    Passed,
    Lost,
    /// Larger than this MTU, which the sender's kernel knows.
    TooBig(u32),
}

struct Prober<'a> {
    socket: &'a UdpSocket,
    server: SocketAddr,
    key: u64,
    clock: Clock,
    number: u64,
    stop: &'a AtomicBool,
}

impl Prober<'_> {
    fn search(&mut self, direction: Direction, largest: u32) -> MtuResult {
        let (smallest, headers) = if self.server.is_ipv4() { (576, 28) } else { (1_280, 48) };
        let mut search = MtuSearch::new(smallest, largest.clamp(smallest, PACKET_MAX));
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return MtuResult { largest: None, is_black_hole: false, probes: 0 };
            }
            match search.poll() {
                MtuProbe::Done(result) => return result,
                MtuProbe::Send(size) => match self.send(direction, (size - headers) as usize) {
                    Answer::Passed => search.handle_passed(),
                    Answer::Lost => search.handle_lost(),
                    Answer::TooBig(mtu) => search.handle_too_big(mtu),
                },
            }
        }
    }

    /// Sends a probe with this payload, or requests an answer with it.
    fn send(&mut self, direction: Direction, payload: usize) -> Answer {
        self.number += 1;
        let (length, requested) = match direction {
            Direction::Forward => (payload, UDP_HEADER_BYTES),
            Direction::Reverse => (UDP_HEADER_BYTES, payload),
        };
        let packet = UdpPacket { key: self.key, number: self.number, sent_ns: requested as u64 };
        let mut datagram = vec![0; length.max(UDP_HEADER_BYTES)];
        datagram[..UDP_HEADER_BYTES].copy_from_slice(&packet.encode());
        if self.socket.send(&datagram).is_err() {
            return self.too_big(direction, payload);
        }
        let until = self.clock.now().after(ANSWER_WAIT);
        let mut answer = vec![0; PACKET_MAX as usize];
        while wait_readable(self.socket, self.clock, until) {
            // An ICMP message about the packet is an error of the socket.
            let Ok(length) = self.socket.recv(&mut answer) else { return self.too_big(direction, payload) };
            let Some(reply) = UdpPacket::decode(&answer[..length]) else { continue };
            // Answers to earlier probes come late.
            if reply.key == self.key && reply.number == self.number {
                return match u32::try_from(reply.sent_ns) {
                    Ok(0) => Answer::Passed,
                    Ok(mtu) => Answer::TooBig(mtu),
                    Err(_) => Answer::Lost,
                };
            }
        }
        Answer::Lost
    }

    /// The kernel refused a packet: because of its size if the known MTU is smaller.
    fn too_big(&self, direction: Direction, payload: usize) -> Answer {
        let mtu = kernel_mtu(self.socket, self.server);
        match mtu.filter(|&mtu| direction == Direction::Forward && (mtu as usize) < payload + 28) {
            Some(mtu) => Answer::TooBig(mtu),
            None => Answer::Lost,
        }
    }
}
