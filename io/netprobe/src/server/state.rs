//! [`ServerState`]: what all threads of a server share.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_netbench::Token;
use wavetank_units::Nanos;

use super::sessions::Sessions;

/// Connections that have not proved yet that they belong to a client. Further ones are closed.
const UNPROVED_MAX: usize = 32;

/// What all threads of a server share.
pub(crate) struct ServerState {
    pub(crate) token: Token,
    pub(crate) version: &'static str,
    pub(crate) address: SocketAddr,
    pub(crate) clock: Clock,
    /// When the server ends, on its clock.
    pub(crate) until: Nanos,
    pub(crate) sessions: Sessions,
    /// Connections that have not proved yet that they belong to a client.
    pub(super) unproved: AtomicUsize,
    pub(super) stop: AtomicBool,
}

impl ServerState {
    /// Whether the server is to end.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.clock.now() >= self.until
    }

    /// Counts a connection as unproved while the returned value exists; `None` if there are too
    /// many.
    pub(crate) fn count_unproved(self: &Arc<Self>) -> Option<Unproved> {
        let counted = Unproved(Arc::clone(self));
        (self.unproved.fetch_add(1, Ordering::Relaxed) < UNPROVED_MAX).then_some(counted)
    }
}

/// A connection that has not proved yet that it belongs to a client.
pub(crate) struct Unproved(Arc<ServerState>);

impl Drop for Unproved {
    fn drop(&mut self) {
        self.0.unproved.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Starts a thread for a connection. Without room for a thread, the connection is closed.
pub(crate) fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) {
    let _ = std::thread::Builder::new().name(name.to_owned()).spawn(work);
}

/// Sets the limits of waiting on a fresh connection.
pub(crate) fn limit_waits(stream: &TcpStream, wait: Duration) -> std::io::Result<()> {
    stream.set_read_timeout(Some(wait))?;
    stream.set_write_timeout(Some(wait))
}
