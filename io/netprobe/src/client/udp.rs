//! UDP: loss and jitter at a rate, and the highest rate of small packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_netbench::{
    ClientRequest, DataHeader, DataKind, Direction, HEADER_BYTES, NetSettings, ServerReply, UdpFlow,
    UdpPacket, UdpResult, udp_doc,
};
use wavetank_record::UdpDoc;
use wavetank_units::{Nanos, UserError};

use super::NetClient;
use crate::control::is_wait;
use crate::error;
use crate::pacing::{send_paced, wait_readable};
use crate::server::{DatagramSender, interval_of};

/// Attempts to reach the server by a first datagram.
const ATTEMPTS: u32 = 15;
/// Time between them.
const ATTEMPT_WAIT: Nanos = Nanos::from_millis(100);
/// How long datagrams may be in queues after the last one was sent.
const QUEUE_TIME: Nanos = Nanos::from_millis(300);
/// Largest payload of a datagram.
const BYTES_MAX: usize = 65_507;

impl NetClient {
    /// Measures datagrams of `bytes` payload at a rate, or as fast as possible.
    pub(super) fn measure_udp(
        &mut self,
        direction: Direction,
        (bytes, rate): (usize, Option<u64>),
        duration: Nanos,
    ) -> Result<UdpDoc, UserError> {
        let test = self.next_test();
        let millis = (duration.0 / 1_000_000).unsigned_abs();
        let bits_per_s = rate.unwrap_or_default();
        let request = ClientRequest::Udp { test, direction, bytes: bytes as u32, bits_per_s, millis };
        let socket = self.open_udp(&request, test)?;
        let key = self.key.flow_key(test);
        let clock = Clock::starting_now();
        let (sent, sent_nanos, received) = match direction {
            Direction::Forward => {
                let mut send = DatagramSender::new(&socket, key, bytes);
                let pace = (interval_of(bytes, bits_per_s), duration);
                let sent = send_paced(&socket, clock, pace, |number, now| {
                    !self.is_stopped() && send.send(number, now)
                });
                let nanos = clock.now().since(Nanos::ZERO);
                let until = clock.now().after(QUEUE_TIME);
                wait_readable(&socket, clock, until);
                (sent, nanos, self.collect_udp(test, sent)?)
            }
            Direction::Reverse => {
                let received = self.receive(&socket, key, clock, duration);
                let theirs = self.collect_udp(test, 0)?;
                (theirs.sent, theirs.nanos, received)
            }
        };
        Ok(udp_doc(direction, (bytes as u32, rate), (sent, sent_nanos), &received))
    }

    /// Makes a request for datagrams, and a first datagram and its answer. Returns the connected
    /// socket.
    pub(super) fn open_udp(&mut self, request: &ClientRequest, test: u32) -> Result<UdpSocket, UserError> {
        let port = match self.request(request, Nanos::ZERO)? {
            ServerReply::UdpPort(port) => port,
            reply => return Err(self.unexpected("UDP", reply)),
        };
        let server = self.server;
        let name = server.to_string();
        let local = match server.ip() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let mut address = server;
        address.set_port(port);
        let failed = |error: std::io::Error| error::test_failed("UDP", &name, &error::reason(&error));
        let socket = UdpSocket::bind(SocketAddr::new(local, 0)).map_err(failed)?;
        socket.connect(address).map_err(failed)?;
        let header = DataHeader { kind: DataKind::Datagram, session: self.session, test, stream: 0 };
        let (first, clock) = (header.encode(&self.key), Clock::starting_now());
        let mut answer = [0; HEADER_BYTES];
        for _ in 0..ATTEMPTS {
            // A refusal (ICMP) of an earlier datagram is an error of the next call.
            let _ = socket.send(&first);
            let until = clock.now().after(ATTEMPT_WAIT);
            // Any datagram of the server says that it has been reached.
            if wait_readable(&socket, clock, until) && socket.recv(&mut answer).is_ok() {
                return Ok(socket);
            }
        }
        self.collect_udp(test, 0)?;
        Err(error::udp_filtered(&name, port))
    }

    /// Returns what the server has measured of datagrams.
    pub(super) fn collect_udp(&mut self, test: u32, sent: u64) -> Result<UdpResult, UserError> {
        match self.request(&ClientRequest::Collect { test, sent }, Nanos::ZERO)? {
            ServerReply::Udp(result) => Ok(result),
            reply => Err(self.unexpected("UDP", reply)),
        }
    }

    /// Receives datagrams for the duration, and those that are still in queues.
    fn receive(&self, socket: &UdpSocket, key: u64, clock: Clock, duration: Nanos) -> UdpResult {
        let mut flow = UdpFlow::default();
        let mut datagram = vec![0; BYTES_MAX];
        let _ = socket.set_read_timeout(Some(Duration::from_millis(50)));
        let end = duration.after(QUEUE_TIME);
        loop {
            match socket.recv(&mut datagram) {
                Ok(length) => {
                    if let Some(packet) = UdpPacket::decode(&datagram[..length]).filter(|one| one.key == key)
                    {
                        flow.add(&packet, clock.now().since(Nanos::ZERO));
                    }
                }
                Err(error) if is_wait(&error) && clock.now() < end => {}
                Err(_) => break,
            }
            // A server that goes on sending does not keep the client.
            if self.is_stopped() || clock.now() > end.after(NetSettings::default().duration) {
                break;
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
}
