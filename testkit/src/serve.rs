//! [`Serve`]: the real `wavetank serve` as a child process.

use std::net::SocketAddr;
use std::time::Duration;

use crate::clock::poll_until;
use crate::program::{Program, Running};

/// A running `wavetank serve` on a free port of 127.0.0.1; killed when dropped.
#[derive(Debug)]
pub struct Serve {
    running: Running,
    address: SocketAddr,
}

impl Serve {
    /// Starts `program serve --listen 127.0.0.1:0 ARGS…` and waits until it prints its address.
    pub fn start(program: &Program, words: &[&str]) -> Self {
        Self::start_at(program, &[SocketAddr::from(([127, 0, 0, 1], 0))], words)
    }

    /// The same on these addresses, the last of which is [`Serve::address`].
    pub fn start_at(program: &Program, addresses: &[SocketAddr], words: &[&str]) -> Self {
        let listen = addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let running = program.clone().args(["serve", "--listen", &listen]).args(words).start();
        // The address must come from its own output: an open port does not show which program
        // accepts on it.
        let reported = poll_until(Duration::from_mins(1), || {
            let ended = running.ends_within(Duration::ZERO);
            let address = serving(&running.stdout());
            (ended || address.is_some()).then_some(address)
        });
        let Some(Some(address)) = reported else {
            panic!("`serve` does not serve on {listen}: {}", running.stderr());
        };
        Self { running, address }
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The URL of its raw TCP, with TLS if it has that; it needs `--tcp`.
    pub fn tcp_url(&self) -> String {
        let stdout = self.running.stdout();
        let raw =
            stdout.split_whitespace().find(|word| word.starts_with("tcp://") || word.starts_with("tls://"));
        raw.unwrap_or_else(|| panic!("no address of raw TCP: {stdout}")).to_owned()
    }

    /// The URL of its UDP; it needs `--udp`.
    pub fn udp_url(&self) -> String {
        let stdout = self.running.stdout();
        let udp = stdout.split_whitespace().find(|word| word.starts_with("udp://"));
        udp.unwrap_or_else(|| panic!("no address of UDP: {stdout}")).to_owned()
    }

    /// The address of its HTTP/3; it needs `--http3`.
    pub fn http3_address(&self) -> String {
        let stdout = self.running.stdout();
        let found = stdout.split_whitespace().find_map(|word| word.strip_suffix("/udp"));
        found.unwrap_or_else(|| panic!("no address of HTTP/3: {stdout}")).to_owned()
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

/// The last address of HTTP in `serving URL… (Ctrl-C stops)`, which it says once it listens.
fn serving(stdout: &str) -> Option<SocketAddr> {
    let urls =
        stdout.lines().find_map(|line| line.strip_prefix("serving ")?.strip_suffix(" (Ctrl-C stops)"))?;
    let http = urls.split_whitespace().rfind(|url| url.starts_with("http"));
    let (_scheme, address) = http?.split_once("://")?;
    address.strip_suffix('/')?.parse().ok()
}
