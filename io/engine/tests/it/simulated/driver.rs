//! [`SimulatedDriver`]: a driver without sockets, on a clock that moves only while it waits.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use wavetank_driver::{
    Clock, CloseReason, ConnId, Dial, Driver, DriverConfig, Errno, Event, ListenerId, SendStatus, Waker,
};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use super::control::Control;
use super::peer::{Accept, Peer, Reply, Request};

/// What a wait and a send take, so that a thread that spins gets on.
const CALL: Nanos = Nanos(1_000);
/// No simulated run lasts longer. One that does has lost its end.
const END_MAX: Nanos = Nanos::from_secs(3_600);

/// Something that will happen on a connection.
#[derive(Clone, Debug)]
enum Incident {
    Connected,
    Refused,
    Bytes(Vec<u8>),
    Closed,
    Broken,
}

/// A connection in a slot; the generation counts the uses of the slot.
struct Conn {
    generation: u16,
    is_open: bool,
    /// Its number at the peer.
    number: u64,
    /// What the peer has of the next request.
    partial: Vec<u8>,
    /// Responses leave in the order of their requests.
    last_reply: Nanos,
}

/// The driver; see the module documentation.
pub(crate) struct SimulatedDriver {
    clock: Clock,
    now: Nanos,
    peer: Peer,
    control: Rc<RefCell<Control>>,
    conns: Vec<Option<Conn>>,
    generations: Vec<u16>,
    /// What will happen, by its instant and in the order in which it was caused.
    due: BTreeMap<(Nanos, u64), (ConnId, Incident)>,
    caused: u64,
    ready: VecDeque<(ConnId, Incident)>,
    woken: bool,
    received: Vec<u8>,
    bytes_sent: u64,
}

impl SimulatedDriver {
    pub(crate) fn new(peer: Peer, control: Rc<RefCell<Control>>) -> Self {
        Self {
            clock: Clock::starting_now(),
            now: Nanos::ZERO,
            peer,
            control,
            conns: Vec::new(),
            generations: Vec::new(),
            due: BTreeMap::new(),
            caused: 0,
            ready: VecDeque::new(),
            woken: false,
            received: Vec::new(),
            bytes_sent: 0,
        }
    }

    fn conn(&mut self, id: ConnId) -> Option<&mut Conn> {
        let conn = self.conns.get_mut(id.slot as usize)?.as_mut()?;
        (conn.generation == id.generation).then_some(conn)
    }

    fn cause(&mut self, at: Nanos, id: ConnId, incident: Incident) {
        self.caused += 1;
        self.due.insert((at, self.caused), (id, incident));
    }

    /// Moves what has happened by now to what is ready.
    fn happen(&mut self) {
        while let Some(entry) = self.due.first_entry()
            && entry.key().0 <= self.now
        {
            self.ready.push_back(entry.remove());
        }
    }

    /// The peer receives bytes, and replies to each complete request.
    fn deliver(&mut self, id: ConnId, bytes: &[u8]) {
        let now = self.now;
        let Some(conn) = self.conn(id) else { return };
        conn.partial.extend_from_slice(bytes);
        let number = conn.number;
        while let Some(path) = self.conn(id).and_then(|conn| take_request(&mut conn.partial)) {
            let reply = self.peer.reply(Request { at: now, connection: number, path });
            let delay = match reply {
                Reply::Never => continue,
                Reply::Status(_, delay) | Reply::Close(delay) | Reply::Break(delay) => delay,
            };
            let Some(conn) = self.conn(id) else { return };
            let at = now.after(delay).max(conn.last_reply);
            conn.last_reply = at;
            match reply {
                Reply::Status(status, _) => {
                    let head = format!("HTTP/1.1 {status} So\r\nContent-Length: 0\r\n\r\n");
                    self.cause(at, id, Incident::Bytes(head.into_bytes()));
                }
                Reply::Break(_) => {
                    self.cause(at, id, Incident::Bytes(b"HTTP/1.1 200 So\r\nContent-Le".to_vec()));
                    self.cause(at, id, Incident::Broken);
                }
                _ => self.cause(at, id, Incident::Closed),
            }
        }
    }

    /// Turns an incident into an event, unless its connection is gone.
    fn event(&mut self, id: ConnId, incident: Incident) -> Option<Event> {
        self.conn(id)?;
        Some(match incident {
            Incident::Connected => {
                let (number, lifetime) = self.peer.open();
                if let Some(lifetime) = lifetime {
                    self.cause(self.now.after(lifetime), id, Incident::Closed);
                }
                let conn = self.conn(id)?;
                (conn.is_open, conn.number) = (true, number);
                Event::Connected(id)
            }
            Incident::Refused => {
                self.conns[id.slot as usize] = None;
                Event::ConnectFailed(id, Errno(libc::ECONNREFUSED))
            }
            Incident::Bytes(bytes) => {
                self.received = bytes;
                Event::Received(id, self.received.len())
            }
            Incident::Closed => Event::Ended(id, CloseReason::Eof),
            Incident::Broken => Event::Ended(id, CloseReason::Broken(Errno(libc::ECONNRESET))),
        })
    }
}

/// Takes a complete request without a body from `bytes`, and returns its path.
fn take_request(bytes: &mut Vec<u8>) -> Option<String> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    bytes.drain(..end + 4);
    Some(head.split(' ').nth(1).expect("a request has a path").to_owned())
}

impl Driver for SimulatedDriver {
    const REPORTED_BY_WAIT: bool = true;

    fn new(_: &DriverConfig) -> Result<Self, Errno> {
        unreachable!("made with its peer")
    }

    fn connect(&mut self, _: &Dial) -> Result<ConnId, Errno> {
        let free = self.conns.iter().position(Option::is_none).unwrap_or(self.conns.len());
        if free == self.conns.len() {
            self.conns.push(None);
            self.generations.push(0);
        }
        let generation = self.generations[free].wrapping_add(1);
        self.generations[free] = generation;
        let last_reply = self.now;
        self.conns[free] =
            Some(Conn { generation, is_open: false, number: 0, partial: Vec::new(), last_reply });
        let id = ConnId { slot: free as u32, generation };
        match self.peer.accept(self.now) {
            Accept::After(delay) => self.cause(self.now.after(delay), id, Incident::Connected),
            Accept::Refuse(delay) => self.cause(self.now.after(delay), id, Incident::Refused),
            Accept::Ignore => {}
        }
        Ok(id)
    }

    fn listen(&mut self, _: SocketAddr) -> Result<(ListenerId, SocketAddr), Errno> {
        unreachable!("a load thread does not listen")
    }

    fn stop_accepting(&mut self) {}

    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        if !self.conn(conn).is_some_and(|conn| conn.is_open) {
            return Err(Errno(libc::EPIPE));
        }
        self.now = self.now.after(CALL);
        self.bytes_sent += bytes.len() as u64;
        self.deliver(conn, bytes);
        Ok(SendStatus::All)
    }

    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno> {
        self.send(conn, bytes)
    }

    fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }

    fn close(&mut self, conn: ConnId, _: Close) {
        if self.conn(conn).is_some() {
            self.conns[conn.slot as usize] = None;
        }
    }

    fn shut_down_sending(&mut self, _: ConnId) {}

    fn clock(&self) -> Clock {
        self.clock
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn wait_from(&mut self, _: Nanos, until: Nanos) -> Result<bool, Errno> {
        self.now = self.now.after(CALL);
        let next_command = self.control.borrow_mut().hear(self.now);
        if self.ready.is_empty() {
            let next = self.due.first_key_value().map(|((at, _), _)| *at);
            let first = [next, next_command].into_iter().flatten().fold(until, Nanos::min);
            self.now = self.now.max(first);
            assert!(self.now < END_MAX, "the simulated run does not end");
        }
        self.woken |= self.control.borrow_mut().send_due(self.now);
        self.happen();
        Ok(self.woken || !self.ready.is_empty())
    }

    fn next(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.woken) {
            return Some(Event::Woken);
        }
        loop {
            let (id, incident) = self.ready.pop_front()?;
            if let Some(event) = self.event(id, incident) {
                return Some(event);
            }
        }
    }

    fn received(&self, len: usize) -> &[u8] {
        &self.received[..len]
    }

    fn waker(&self) -> Result<Waker, Errno> {
        unreachable!("it is woken by its control")
    }

    fn stale(&self) -> u64 {
        0
    }
}
