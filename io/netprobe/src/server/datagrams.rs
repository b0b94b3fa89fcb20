//! Datagrams at the server.

use std::io::Result;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, ip_mtu, ipv6_mtu, set_ip_mtu_discover, set_ipv6_mtu_discover,
};
use wavetank_driver::{Clock, thread_cpu_ns};
use wavetank_netbench::{
    DataHeader, DataKind, HEADER_BYTES, UDP_HEADER_BYTES, UdpFlow, UdpPacket, UdpResult,
};
use wavetank_units::Nanos;

use super::sessions::Session;
use crate::control::is_wait;
use crate::pacing::send_paced;
use crate::streams::GRACE;

/// How often a waiting thread looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Largest payload of a datagram.
const BYTES_MAX: usize = 65_507;

/// What is done with datagrams.
#[derive(Clone, Copy, Debug)]
pub(super) enum UdpWork {
    /// Receive and count.
    Receive,
    /// Send datagrams of this payload at this rate (0: as fast as possible).
    Send { bytes: u32, bits_per_s: u64 },
    /// Answer each with one of the requested size, for the search of the MTU.
    Answer,
}

/// A thread for the datagrams of a test.
pub(super) struct UdpTask {
    pub(super) socket: UdpSocket,
    pub(super) session: Arc<Session>,
    pub(super) test: u32,
    pub(super) duration: Nanos,
    pub(super) stop: Arc<AtomicBool>,
}

/// Binds a socket for datagrams: the port of the server if it is free, else any.
pub(super) fn bind(local: IpAddr, port: u16) -> Result<UdpSocket> {
    UdpSocket::bind((local, port)).or_else(|_| UdpSocket::bind((local, 0)))
}

impl UdpTask {
    pub(super) fn run(self, work: UdpWork) {
        let clock = Clock::starting_now();
        let give_up = self.duration.after(GRACE).after(GRACE);
        let is_over = || self.is_over() || clock.now() > give_up;
        if self.socket.set_read_timeout(Some(LOOK_EVERY)).is_err() {
            return;
        }
        let Some(peer) = self.wait_for_client(&is_over) else {
            return self.session.set_udp(self.test, UdpResult::default());
        };
        // From here on, the kernel drops datagrams from any other address.
        if self.socket.connect(peer).is_err() {
            return;
        }
        let cpu = thread_cpu_ns();
        let result = match work {
            UdpWork::Receive => self.receive(clock, &is_over),
            UdpWork::Send { bytes, bits_per_s } => self.send(clock, bytes as usize, bits_per_s),
            UdpWork::Answer => self.answer(peer, &is_over),
        };
        self.session.set_udp(self.test, UdpResult { cpu_ns: thread_cpu_ns() - cpu, ..result });
    }

    fn is_over(&self) -> bool {
        self.session.stop.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }

    fn key(&self) -> u64 {
        self.session.key.flow_key(self.test)
    }

    /// Waits for a sealed datagram from the client's address, and answers it. Nothing is sent to
    /// any other address.
    fn wait_for_client(&self, is_over: &dyn Fn() -> bool) -> Option<SocketAddr> {
        let mut datagram = [0; HEADER_BYTES + 1];
        while !is_over() {
            let Ok((length, from)) = self.socket.recv_from(&mut datagram) else { continue };
            if let Some(header) = self.sealed(&datagram[..length])
                && from.ip().to_canonical() == self.session.peer
            {
                let answer = DataHeader { stream: 1, ..header }.encode(&self.session.key);
                self.socket.send_to(&answer, from).ok()?;
                return Some(from);
            }
        }
        None
    }

    /// Returns the header of a first datagram of this test.
    fn sealed(&self, datagram: &[u8]) -> Option<DataHeader> {
        let bytes: &[u8; HEADER_BYTES] = datagram.try_into().ok()?;
        let header = DataHeader::decode(bytes, &self.session.key)?;
        let is_first = header.kind == DataKind::Datagram && header.stream == 0;
        (is_first && header.test == self.test && header.session == self.session.number).then_some(header)
    }

    /// Counts datagrams until the client collects the result and no more come.
    fn receive(&self, clock: Clock, is_over: &dyn Fn() -> bool) -> UdpResult {
        let (mut flow, key) = (UdpFlow::default(), self.key());
        let mut datagram = vec![0; BYTES_MAX];
        loop {
            match self.socket.recv(&mut datagram) {
                Ok(length) => {
                    if let Some(packet) = UdpPacket::decode(&datagram[..length]).filter(|one| one.key == key)
                    {
                        flow.add(&packet, clock.now().since(Nanos::ZERO));
                    } else if let Some(header) = self.sealed(&datagram[..length]) {
                        // The first answer was lost.
                        let _ =
                            self.socket.send(&DataHeader { stream: 1, ..header }.encode(&self.session.key));
                    }
                }
                Err(error) if is_wait(&error) && !is_over() => {}
                Err(_) => break,
            }
        }
        UdpResult {
            received: flow.received(),
            duplicates: flow.duplicates(),
            reordered: flow.reordered(),
            jitter_ns: flow.jitter_ns(),
            nanos: flow.nanos(),
            ..UdpResult::default()
        }
    }

    /// Sends for the duration.
    fn send(&self, clock: Clock, bytes: usize, bits_per_s: u64) -> UdpResult {
        let start = clock.now();
        let mut send = DatagramSender::new(&self.socket, self.key(), bytes);
        let interval = interval_of(bytes, bits_per_s);
        let sent = send_paced(&self.socket, clock, (interval, start.after(self.duration)), |number, now| {
            !self.is_over() && send.send(number, now)
        });
        UdpResult { sent, nanos: clock.now().since(start), ..UdpResult::default() }
    }

    /// Answers probes of the MTU. A probe's time field is the payload of the answer. The answer's
    /// time field is 0, or the MTU if the answer would exceed it.
    fn answer(&self, peer: SocketAddr, is_over: &dyn Fn() -> bool) -> UdpResult {
        forbid_fragments(&self.socket, peer);
        let (mut datagram, key) = (vec![0; BYTES_MAX], self.key());
        while !is_over() {
            let Ok(length) = self.socket.recv(&mut datagram) else { continue };
            let Some(packet) = UdpPacket::decode(&datagram[..length]).filter(|one| one.key == key) else {
                continue;
            };
            let wanted = (packet.sent_ns as usize).clamp(UDP_HEADER_BYTES, BYTES_MAX);
            let mut answer = vec![0; wanted];
            answer[..UDP_HEADER_BYTES].copy_from_slice(&UdpPacket { sent_ns: 0, ..packet }.encode());
            if self.socket.send(&answer).is_err() {
                let mtu = kernel_mtu(&self.socket, peer).unwrap_or_default();
                let _ = self.socket.send(&UdpPacket { sent_ns: u64::from(mtu), ..packet }.encode());
            }
        }
        UdpResult::default()
    }
}

/// Sends numbered datagrams.
pub(crate) struct DatagramSender<'a> {
    socket: &'a UdpSocket,
    key: u64,
    datagram: Vec<u8>,
}

impl<'a> DatagramSender<'a> {
    /// A sender of datagrams with this payload.
    pub(crate) fn new(socket: &'a UdpSocket, key: u64, bytes: usize) -> Self {
        Self { socket, key, datagram: vec![0x5a; bytes.max(UDP_HEADER_BYTES)] }
    }

    /// Sends a datagram. Returns `false` if the socket is of no more use.
    pub(crate) fn send(&mut self, number: u64, now: Nanos) -> bool {
        let packet = UdpPacket { key: self.key, number, sent_ns: now.since(Nanos::ZERO) };
        self.datagram[..UDP_HEADER_BYTES].copy_from_slice(&packet.encode());
        // Refused datagrams and full queues are losses, which the receiver counts.
        !self.socket.send(&self.datagram).is_err_and(|error| error.kind() == std::io::ErrorKind::InvalidInput)
    }
}

/// Returns the time between datagrams of this payload at a rate of bits per second; 0 for a rate
/// of 0.
pub(crate) fn interval_of(bytes: usize, bits_per_s: u64) -> Nanos {
    let bits = bytes as u128 * 8 * 1_000_000_000;
    Nanos(bits.checked_div(u128::from(bits_per_s)).unwrap_or_default() as i64)
}

/// Makes the kernel refuse datagrams that are larger than the path's MTU, in place of fragments.
pub(crate) fn forbid_fragments(socket: &UdpSocket, peer: SocketAddr) {
    let _ = match peer {
        SocketAddr::V4(_) => set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::DO),
        SocketAddr::V6(_) => set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::DO),
    };
}

/// Returns what the kernel takes for the MTU of the path to the connected `peer`.
pub(crate) fn kernel_mtu(socket: &UdpSocket, peer: SocketAddr) -> Option<u32> {
    match peer {
        SocketAddr::V4(_) => ip_mtu(socket).ok(),
        SocketAddr::V6(_) => ipv6_mtu(socket).ok(),
    }
}
