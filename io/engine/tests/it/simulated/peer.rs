//! [`Peer`]: what is at the other end of simulated connections.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

use wavetank_units::Nanos;

/// What a peer does with an attempt to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accept {
    /// The connection is open after this time.
    After(Nanos),
    /// It is refused after this time.
    Refuse(Nanos),
    /// Nothing happens.
    Ignore,
}

/// What a peer does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// A response with this status after this time.
    Status(u16, Nanos),
    /// Nothing happens.
    Never,
    /// The peer ends the connection after this time, without a response.
    Close(Nanos),
    /// The connection breaks after this time, in the middle of the response.
    Break(Nanos),
}

/// A request that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// When it was sent.
    pub(crate) at: Nanos,
    /// Its connection, numbered from 0 in order of opening.
    pub(crate) connection: u64,
    /// Its path.
    pub(crate) path: String,
}

/// A decision about one attempt to connect, made at its instant.
type Accepting = dyn FnMut(Nanos) -> Accept;
/// A decision about one request.
type Replying = dyn FnMut(&Request) -> Reply;

/// A scripted peer and what it has seen. Clones are the same peer.
#[derive(Clone)]
pub(crate) struct Peer(Rc<RefCell<Script>>);

struct Script {
    accept: Box<Accepting>,
    reply: Box<Replying>,
    /// The peer ends each connection when it is this old.
    lifetime: Option<Nanos>,
    seen: Vec<Request>,
    opened: u64,
}

impl Peer {
    /// Its address, which no socket has.
    pub(crate) const ADDRESS: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 80);
    /// How long connecting takes, and how long a response.
    pub(crate) const LATENCY: Nanos = Nanos::from_millis(1);

    /// A peer that accepts everything and replies with `reply`.
    pub(crate) fn new(reply: impl FnMut(&Request) -> Reply + 'static) -> Self {
        Self(Rc::new(RefCell::new(Script {
            accept: Box::new(|_| Accept::After(Self::LATENCY)),
            reply: Box::new(reply),
            lifetime: None,
            seen: Vec::new(),
            opened: 0,
        })))
    }

    /// A peer that responds to each path with the status that `status` returns.
    pub(crate) fn with_status(status: fn(&str) -> u16) -> Self {
        Self::new(move |request| Reply::Status(status(&request.path), Self::LATENCY))
    }

    /// A peer that responds with 200 after this time.
    pub(crate) fn constant(delay: Nanos) -> Self {
        Self::new(move |_| Reply::Status(200, delay))
    }

    /// The same peer, with another reaction to attempts to connect.
    pub(crate) fn accepting(self, accept: impl FnMut(Nanos) -> Accept + 'static) -> Self {
        self.0.borrow_mut().accept = Box::new(accept);
        self
    }

    /// The same peer, which ends each connection when it is this old.
    pub(crate) fn ending_after(self, lifetime: Nanos) -> Self {
        self.0.borrow_mut().lifetime = Some(lifetime);
        self
    }

    /// Returns all requests in the order in which they were sent.
    pub(crate) fn seen(&self) -> Vec<Request> {
        self.0.borrow().seen.clone()
    }

    /// Returns the paths with this prefix in the order in which they were requested.
    pub(crate) fn paths(&self, prefix: &str) -> Vec<String> {
        let seen = &self.0.borrow().seen;
        seen.iter().map(|one| one.path.clone()).filter(|path| path.starts_with(prefix)).collect()
    }

    /// Returns how many requests arrived.
    pub(crate) fn requests(&self) -> u64 {
        self.0.borrow().seen.len() as u64
    }

    /// Returns how many connections were open at some time.
    pub(crate) fn connections(&self) -> u64 {
        self.0.borrow().opened
    }

    pub(super) fn accept(&self, at: Nanos) -> Accept {
        (self.0.borrow_mut().accept)(at)
    }

    /// Returns the number of a connection that opens now, and its lifetime.
    pub(super) fn open(&self) -> (u64, Option<Nanos>) {
        let mut script = self.0.borrow_mut();
        script.opened += 1;
        (script.opened - 1, script.lifetime)
    }

    pub(super) fn reply(&self, request: Request) -> Reply {
        let mut script = self.0.borrow_mut();
        let reply = (script.reply)(&request);
        script.seen.push(request);
        reply
    }
}
