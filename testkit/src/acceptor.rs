//! [`Acceptor`]: accepts connections on a free port, and serves each in a thread of its own.

use std::io::Result;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

/// A listener on a free port of 127.0.0.1; it ends when dropped.
pub(crate) struct Acceptor {
    pub(crate) address: SocketAddr,
    state: Arc<AcceptorState>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct AcceptorState {
    connections: AtomicU64,
    stops: AtomicBool,
}

impl Acceptor {
    /// Calls `serve` with each connection and its number, from 0. An error is the end of the
    /// connection, which the client may bring about.
    ///
    /// # Panics
    /// If no port is free.
    pub(crate) fn start(serve: impl Fn(TcpStream, u64) -> Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (state, serve): (Arc<AcceptorState>, _) = (Arc::default(), Arc::new(serve));
        let own = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if own.stops.load(Ordering::SeqCst) {
                    return;
                }
                let connection = own.connections.fetch_add(1, Ordering::SeqCst);
                let serve = Arc::clone(&serve);
                std::thread::spawn(move || drop(serve(client, connection)));
            }
        });
        Self { address, state, thread: Some(thread) }
    }

    /// The number of connections that were accepted.
    pub(crate) fn connections(&self) -> u64 {
        self.state.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.state.stops.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts. If that fails, the process ends it.
        if TcpStream::connect(self.address).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}
