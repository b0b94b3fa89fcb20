//! [`Nginx`]: a foreign server, and its own log of what it saw.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::clock::poll_until;
use crate::program::{Program, Running};
use crate::skip::skip;
use crate::test_dir::{TestDir, free_port};

/// Longer than any log line is on its way to the file.
const LOG_LIMIT: Duration = Duration::from_mins(1);

/// One nginx process on a free port of 127.0.0.1; killed when dropped.
#[derive(Debug)]
pub struct Nginx {
    running: Running,
    address: SocketAddr,
    place: TestDir,
}

impl Nginx {
    /// Starts nginx in `place`, with files that `server` may name, and waits until it accepts
    /// connections. `server` is the content of its one server block, with `LISTEN` for address and
    /// port; `log` is the format of its access log. `None` if nginx is not installed, recorded as a
    /// skip of `test`.
    pub fn start(test: &str, place: TestDir, log: &str, server: &str) -> Option<Self> {
        let Some(program) = Program::foreign("nginx") else {
            skip(test, "nginx is not installed");
            return None;
        };
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let server = server.replace("LISTEN", &address.to_string());
        // One process in the foreground, so that nothing outlives the test.
        let config = format!(
            "daemon off; master_process off; pid nginx.pid; error_log error.log info;\n\
             events {{ worker_connections 4096; }}\n\
             http {{\n log_format seen '{log}'; access_log access.log seen;\n\
             keepalive_requests 1000000;\n server {{\n{server}\n}}\n}}\n"
        );
        place.write("nginx.conf", config);
        let folder = place.path().to_string_lossy().into_owned();
        let running = program.args(["-p", &folder, "-c", "nginx.conf"]).start();
        let up = poll_until(Duration::from_mins(1), || {
            let dead = running.ends_within(Duration::ZERO);
            (dead || TcpStream::connect(address).is_ok()).then_some(!dead)
        });
        assert_eq!(up, Some(true), "nginx does not accept on {address}: {}", running.stderr());
        Some(Self { running, address, place })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its folder.
    pub fn place(&self) -> &TestDir {
        &self.place
    }

    /// Its access log, once it has `expected` lines; panics if it has others.
    #[track_caller]
    pub fn log(&self, expected: u64) -> Vec<String> {
        let read = || std::fs::read_to_string(self.place.path().join("access.log")).unwrap_or_default();
        let enough = || {
            let text = read();
            (text.lines().count() as u64 >= expected).then_some(text)
        };
        let text = poll_until(LOG_LIMIT, enough).unwrap_or_else(read);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(lines.len() as u64, expected, "nginx saw: {lines:#?}\n{}", self.running.stderr());
        lines
    }

    /// Discards its log. No request may be open.
    pub fn forget(&self) {
        self.place.write("access.log", "");
    }
}
