//! Slots are reused while connections end in all ways: no connection gets events or bytes of
//! another.

use std::collections::{HashMap, HashSet};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use wavetank_driver::{ConnId, Driver, SendStatus};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use super::bench::{Bench, Heard, PATIENCE, dial};

/// Maximum number of peers open at a time: so few that slots are reused constantly.
const PEERS_MAX: usize = 24;
const STEPS: u32 = 3_000;
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// Connections, as known to the owner of the driver and to their peers.
struct Crowd<D> {
    bench: Bench<D>,
    at: SocketAddr,
    state: u64,
    /// Peers by the number that each sends repeatedly.
    peers: HashMap<u32, TcpStream>,
    /// The number that each connection sent, once it has sent it.
    open: HashMap<ConnId, Option<u32>>,
    /// All ids that were ever given out, and all numbers of connections.
    seen: HashSet<ConnId>,
    reported: HashSet<u32>,
}

impl<D: Driver> Crowd<D> {
    fn draw(&mut self, below: usize) -> usize {
        // Xorshift: only variety matters.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % below as u64) as usize
    }

    fn any_peer(&mut self) -> Option<u32> {
        let mut numbers: Vec<_> = self.peers.keys().copied().collect();
        numbers.sort_unstable();
        (!numbers.is_empty()).then(|| numbers[self.draw(numbers.len())])
    }

    fn step(&mut self, number: u32) {
        match self.draw(8) {
            0..3 if self.peers.len() < PEERS_MAX => {
                let mut peer = dial(self.at);
                peer.write_all(&number.to_le_bytes()).expect("connected");
                self.peers.insert(number, peer);
            }
            3 | 4 => {
                // Sends more of its bytes; it may have been closed.
                let Some(number) = self.any_peer() else { return };
                let _ = (&self.peers[&number]).write_all(&number.to_le_bytes());
            }
            5 => self.peer_goes(),
            6 => self.owner_closes(),
            _ => self.hear(),
        }
    }

    /// Ends a peer by FIN or by reset, with bytes just ahead of it or without.
    fn peer_goes(&mut self) {
        let Some(number) = self.any_peer() else { return };
        let mut peer = self.peers.remove(&number).expect("one of them");
        if self.draw(2) == 0 {
            let _ = peer.write_all(&number.to_le_bytes());
        }
        if self.draw(2) == 0 {
            rustix::net::sockopt::set_socket_linger(&peer, Some(Duration::ZERO)).expect("a socket");
        }
    }

    /// Closes a connection while its receive is armed and other operations may be in flight. Its
    /// peer must notice.
    fn owner_closes(&mut self) {
        let mut open: Vec<_> = self.open.iter().map(|(&conn, &number)| (conn, number)).collect();
        open.sort_unstable_by_key(|(conn, _)| conn.slot);
        if open.is_empty() {
            return;
        }
        let (conn, number) = open[self.draw(open.len())];
        if let Some(number) = number {
            // A response in flight goes to its own peer or to none.
            let _: Result<SendStatus, _> = self.bench.driver.send(conn, &number.to_le_bytes());
        }
        let how = if self.draw(2) == 0 { Close::Fin } else { Close::Rst };
        self.bench.driver.close(conn, how);
        self.open.remove(&conn);
        self.bench.out();
        let Some(mut peer) = number.and_then(|number| self.peers.remove(&number)) else { return };
        // Bytes that leave with one wait may be followed by bytes that leave with the next.
        let until = self.bench.clock.now().after(PATIENCE);
        peer.set_read_timeout(Some(Duration::from_millis(1))).expect("a positive timeout");
        let mut said = Vec::new();
        while peer.read_to_end(&mut said).is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
            let waited = self.bench.clock.now() >= until;
            assert!(!waited, "{conn:?} was closed by {how:?}, and its peer hears nothing of that");
            self.bench.out();
        }
        let number = number.expect("it has a peer").to_le_bytes();
        assert!(said.chunks(4).all(|said| said == number), "{said:?} instead of {number:?}");
    }

    fn hear(&mut self) {
        let length = Nanos::from_millis(i64::from(self.draw(4) == 0));
        while let Some(heard) = self.bench.hear_within(length) {
            match heard {
                Heard::Accepted(conn) => {
                    assert!(self.seen.insert(conn), "{conn:?} is an old id");
                    self.open.insert(conn, None);
                }
                Heard::Received(conn, bytes) => {
                    let known = self.open.get_mut(&conn).expect("bytes of a connection that is closed");
                    for four in bytes.chunks(4) {
                        let number = u32::from_le_bytes(four.try_into().expect("four at a time"));
                        if let Some(known) = *known {
                            assert_eq!(number, known, "{conn:?} hears another's bytes");
                        } else {
                            assert!(self.reported.insert(number), "{number} is on two connections");
                            *known = Some(number);
                        }
                    }
                }
                Heard::Ended(conn, _) => {
                    assert!(self.open.remove(&conn).is_some(), "the end of a connection that is closed");
                    self.bench.driver.close(conn, Close::Fin);
                }
                other => panic!("heard {other:?}"),
            }
        }
    }
}

pub(crate) fn no_user_hears_of_another<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let at = bench.listen();
    let (peers, open, seen, reported) = Default::default();
    let mut crowd = Crowd { bench, at, state: SEED, peers, open, seen, reported };
    for number in 0..STEPS {
        crowd.step(number);
    }
    crowd.peers.clear();
    let until = crowd.bench.clock.now().after(PATIENCE);
    while !crowd.open.is_empty() {
        assert!(crowd.bench.clock.now() < until, "their ends are not reported: {:?}", crowd.open);
        crowd.hear();
    }
    assert!(crowd.seen.len() > 200, "only {} connections (seed {SEED:#x})", crowd.seen.len());
    let slots: HashSet<_> = crowd.seen.iter().map(|conn| conn.slot).collect();
    assert!(slots.len() < crowd.seen.len() / 2, "slots are hardly used again");
    crowd.bench.hear_nothing();
}
