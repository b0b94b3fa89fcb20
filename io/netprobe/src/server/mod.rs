//! [`NetServer`]: the end of a measurement that answers.

mod data;
mod datagrams;
mod session;
mod sessions;
mod state;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use wavetank_driver::Clock;
use wavetank_netbench::Token;
use wavetank_units::{Code, Nanos, UserError};

use crate::control::is_wait;
use crate::error::reason;
pub(crate) use datagrams::{DatagramSender, forbid_fragments, interval_of, kernel_mtu};
pub(crate) use session::random_nonce;
use sessions::Sessions;
use state::ServerState;

/// Threads that accept connections.
const ACCEPTORS: usize = 4;
/// How often an acceptor looks whether the server is to end.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The bounds of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Simultaneous clients.
    pub peers: usize,
    /// How long it answers.
    pub lasts: Nanos,
}

/// A server of measurements. It ends with [`NetServer::end`] or after its time.
pub struct NetServer {
    state: Arc<ServerState>,
    acceptors: Vec<JoinHandle<()>>,
}

/// Makes a token from the system's random numbers.
///
/// # Errors
/// The system has none.
pub fn random_token() -> Result<Token, UserError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        let message = format!("cannot make a token: {error}");
        UserError::refused(Code::NetRandom, message, "pass a token of your own: --token-file FILE")
    })?;
    Ok(Token::from_random(bytes))
}

impl NetServer {
    /// Starts to answer at `listen`.
    ///
    /// # Errors
    /// The address cannot be used.
    pub fn start(
        listen: SocketAddr,
        token: Token,
        version: &'static str,
        limits: ServerLimits,
    ) -> Result<Self, UserError> {
        let failed = |error: &std::io::Error| {
            let message = format!("cannot listen on {listen}: {}", reason(error));
            UserError::refused(
                Code::NetListen,
                message,
                "use an address of this host and a free port: --listen",
            )
        };
        let listener = TcpListener::bind(listen).map_err(|error| failed(&error))?;
        let address = listener.local_addr().map_err(|error| failed(&error))?;
        set_socket_timeout(&listener, Timeout::Recv, Some(LOOK_EVERY))
            .map_err(|errno| failed(&errno.into()))?;
        let clock = Clock::starting_now();
        let state = Arc::new(ServerState {
            token,
            version,
            address,
            clock,
            until: limits.lasts,
            sessions: Sessions::new(limits.peers),
            unproved: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
        });
        let mut acceptors = Vec::new();
        for _ in 0..ACCEPTORS {
            let (state, listener) =
                (Arc::clone(&state), listener.try_clone().map_err(|error| failed(&error))?);
            let thread = std::thread::Builder::new().name("net-accept".to_owned());
            let thread = thread.spawn(move || accept(&state, &listener)).map_err(|error| failed(&error))?;
            acceptors.push(thread);
        }
        Ok(Self { state, acceptors })
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.state.address
    }

    /// Whether it has reached the end of its time.
    pub fn is_over(&self) -> bool {
        self.state.is_over()
    }

    /// Returns the addresses of clients since the last call, each with what it was.
    pub fn poll_events(&self) -> Vec<String> {
        self.state.sessions.take_events()
    }

    /// Ends all sessions, and waits until nothing is accepted any more.
    pub fn end(self) {
        self.state.stop.store(true, Ordering::Relaxed);
        self.state.sessions.end_all();
        for acceptor in self.acceptors {
            let _ = acceptor.join();
        }
    }
}

/// Accepts connections until the server ends.
fn accept(state: &Arc<ServerState>, listener: &TcpListener) {
    while !state.is_over() {
        match listener.accept() {
            Ok((stream, peer)) => data::dispatch(state, stream, peer.ip().to_canonical()),
            Err(error) if is_wait(&error) => {}
            // A connection that was reset before it was accepted, or no files are left.
            Err(_) => wait(listener),
        }
    }
    state.sessions.end_all();
}

/// Waits a moment, so that a lasting failure to accept does not occupy a CPU.
fn wait(listener: &TcpListener) {
    let clock = Clock::starting_now();
    crate::pacing::wait_until(listener, clock, Nanos::from_millis(5));
}
