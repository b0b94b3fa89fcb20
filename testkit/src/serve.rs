//! [`Serve`]: the real `wavetank serve` as a child process.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::clock::poll_until;
use crate::place::free_port;
use crate::program::{Program, Running};

/// A running `wavetank serve` on a free port of 127.0.0.1; killed when dropped.
#[derive(Debug)]
pub struct Serve {
    running: Running,
    address: SocketAddr,
}

impl Serve {
    /// Starts `program serve --listen 127.0.0.1:PORT WORDS…` and waits until it accepts.
    pub fn start(program: &Program, words: &[&str]) -> Self {
        Self::start_on(program, &[SocketAddr::from(([127, 0, 0, 1], free_port()))], words)
    }

    /// The same on these addresses; waits until the last of them accepts.
    pub fn start_on(program: &Program, addresses: &[SocketAddr], words: &[&str]) -> Self {
        let listen = addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let address = *addresses.last().expect("a server listens somewhere");
        let running = program.clone().args(["serve", "--listen", &listen]).args(words).start();
        let up = poll_until(Duration::from_secs(20), || {
            let dead = running.ends_within(Duration::ZERO);
            (dead || TcpStream::connect(address).is_ok()).then_some(!dead)
        });
        assert_eq!(up, Some(true), "`serve` does not accept on {address}: {}", running.stderr());
        Self { running, address }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Its process, e.g. to signal it.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Ends it by handing out the process.
    pub fn into_running(self) -> Running {
        self.running
    }
}
