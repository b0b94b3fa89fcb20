//! [`Target`]: a scripted HTTP/1.1 server on loopback, running until dropped.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::thread::{Builder, JoinHandle, Thread};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket, sockopt};

use crate::clock::{Stamp, park_until, steady_thread};
use crate::conversation::Conversation;
use crate::script::{Accept, Script};
use crate::truth::Truth;

/// Connections queued by the kernel unless the script says otherwise.
const BACKLOG: i32 = 4_096;
/// A connection's thread does little: many of them shall fit.
const STACK_BYTES: usize = 256 * 1024;

/// A scripted target. It ends, with all its connections, when dropped.
#[derive(Debug)]
pub struct Target {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
    // A refusing or never accepting port stays bound, so that no other process can take it.
    held: Option<OwnedFd>,
}

/// State shared by the target's threads.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) script: Script,
    pub(crate) stop: AtomicBool,
    truth: Mutex<Truth>,
    changed: Condvar,
    // Weak: a conversation alone decides when its socket closes.
    live: Mutex<Vec<(Weak<TcpStream>, Thread)>>,
}

impl Target {
    /// Starts a target on a free port of 127.0.0.1.
    pub fn start(script: Script) -> Self {
        Self::start_at("127.0.0.1:0".parse().expect("a literal address"), script)
    }

    /// Starts a target on this address.
    pub fn start_at(address: SocketAddr, script: Script) -> Self {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let held = socket(family, SocketType::STREAM, None).expect("a socket can be made");
        sockopt::set_socket_reuseaddr(&held, true).expect("a fresh socket takes SO_REUSEADDR");
        bind(&held, &address).expect("the target's address is free");
        let name = getsockname(&held).expect("a bound socket has a name");
        let address = SocketAddr::try_from(name).expect("an internet socket has an internet address");
        let accept = script.accept;
        let shared = Arc::new(Shared {
            script,
            stop: AtomicBool::new(false),
            truth: Mutex::default(),
            changed: Condvar::new(),
            live: Mutex::default(),
        });
        let mut target = Self { address, shared, acceptor: None, held: None };
        match accept {
            Accept::Refuse => target.held = Some(held),
            Accept::Never => {
                listen(&held, BACKLOG).expect("a bound socket listens");
                target.held = Some(held);
            }
            Accept::AtOnce => target.accept_after(held, Duration::ZERO, BACKLOG),
            Accept::After { delay, backlog } => target.accept_after(held, delay, backlog),
        }
        target
    }

    fn accept_after(&mut self, held: OwnedFd, delay: Duration, backlog: i32) {
        listen(&held, backlog).expect("a bound socket listens");
        let listener = TcpListener::from(held);
        let shared = Arc::clone(&self.shared);
        let begin = Stamp::now().plus(delay);
        let acceptor = Builder::new().name("target".into()).spawn(move || {
            if !park_until(begin, &shared.stop) {
                accept_all(&listener, &shared);
            }
        });
        self.acceptor = Some(acceptor.expect("a thread can be started"));
    }

    /// The address it listens on (or refuses).
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The counts up to now.
    pub fn truth(&self) -> Truth {
        self.shared.truth().clone()
    }

    /// Waits until the target has seen what `event` requires. Panics with the counts if `limit`
    /// passes first.
    pub fn wait_for(&self, what: &str, limit: Duration, event: impl Fn(&Truth) -> bool) -> Truth {
        let deadline = Stamp::now().plus(limit);
        let mut truth = self.shared.truth();
        while !event(&truth) {
            let Some(left) = deadline.left() else {
                let (requests, connections, open) = (truth.requests, truth.connections, truth.open);
                panic!(
                    "no {what} within {limit:?}: {requests} requests, {connections} connections, {open} open"
                );
            };
            truth = self.shared.changed.wait_timeout(truth, left).expect("no thread dies counting").0;
        }
        truth.clone()
    }

    /// Waits until every connection has ended, so that all that was sent has been counted.
    pub fn settled(&self) -> Truth {
        self.wait_for("end of all connections", Duration::from_mins(1), |truth| truth.open == 0)
    }

    /// Resets all counts; the next request is the first again.
    pub fn reset(&self) {
        let mut truth = self.shared.truth();
        let open = truth.open;
        *truth = Truth { open, open_peak: open, ..Truth::default() };
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.thread().unpark();
            // Wakes a blocking accept. If the queue is full, another connection has already done
            // so.
            let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(200));
            let _ = acceptor.join();
        }
        for (stream, thread) in self.shared.live().drain(..) {
            let _ = stream.upgrade().map(|stream| stream.shutdown(Shutdown::Both));
            thread.unpark();
        }
    }
}

impl Shared {
    /// The counts, locked.
    pub(crate) fn truth(&self) -> MutexGuard<'_, Truth> {
        self.truth.lock().expect("no thread dies counting")
    }

    /// Changes the counts and wakes all waiting threads.
    pub(crate) fn count<T>(&self, change: impl FnOnce(&mut Truth) -> T) -> T {
        let result = change(&mut self.truth());
        self.changed.notify_all();
        result
    }

    fn live(&self) -> MutexGuard<'_, Vec<(Weak<TcpStream>, Thread)>> {
        self.live.lock().expect("no thread dies registering")
    }
}

fn accept_all(listener: &TcpListener, shared: &Arc<Shared>) {
    steady_thread();
    while let Ok((stream, from)) = listener.accept() {
        if shared.stop.load(Ordering::Acquire) {
            return;
        }
        let at = Stamp::now();
        let number = shared.count(|truth| {
            truth.connections += 1;
            truth.open += 1;
            truth.open_peak = truth.open_peak.max(truth.open);
            truth.accepted.push(at);
            *truth.sources.entry(from.ip()).or_default() += 1;
            *truth.peers.entry(from).or_default() += 1;
            truth.connections
        });
        let stream = Arc::new(stream);
        let known = Arc::downgrade(&stream);
        let theirs = Arc::clone(shared);
        let thread = Builder::new().stack_size(STACK_BYTES).spawn(move || {
            steady_thread();
            Conversation::new(stream, number, &theirs).run();
            theirs.count(|truth| truth.open -= 1);
        });
        let thread = thread.expect("a thread can be started").thread().clone();
        let mut live = shared.live();
        live.retain(|(stream, _)| stream.strong_count() > 0);
        live.push((known, thread));
    }
}
