//! [`Foreign`]: a third-party program that listens on a port, and its output.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{Nginx, Program, RunHarness, Running, TestDir, free_port, skip};

/// Longer than any line takes to arrive.
const LIMIT: Duration = Duration::from_mins(1);

/// Every engine, and on `io_uring` also the fallback without sockets that are created in their
/// slots.
pub(crate) const WAYS: [(&str, &str); 3] = [("epoll", ""), ("uring", ""), ("uring", "bind_op")];

/// See the module's description. Killed when dropped.
pub(crate) struct Foreign {
    running: Running,
    pub(crate) address: SocketAddr,
    place: TestDir,
}

pub(crate) fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

impl Foreign {
    /// Starts `program` with `words` and its configuration. In the configuration, `IP` and `PORT`
    /// are its listen address and `FOLDER` is its writable folder. `CONFIG` in the arguments is the
    /// configuration's file. Returns `None` and records a skip of `test` if the program is not
    /// installed.
    fn start(test: &str, ip: &str, (program, words): (&str, &[&str]), config: &str) -> Option<Self> {
        let Some(called) = Program::foreign(program) else {
            skip(test, &format!("{program} is not installed"));
            return None;
        };
        let place = TestDir::new();
        let port = free_port();
        let folder = place.path().to_string_lossy().into_owned();
        let config = config.replace("IP", ip).replace("PORT", &port.to_string()).replace("FOLDER", &folder);
        let file = place.write("config", config);
        let running = called.args(words.iter().map(|word| word.replace("CONFIG", &file))).start();
        let address = format!("{ip}:{port}").parse().expect("an address and a port");
        let this = Self { running, address, place };
        wait_for(|| {
            assert!(!this.running.ends_within(Duration::ZERO), "{program}: {}", this.said());
            TcpStream::connect(address).is_ok().then_some(())
        });
        Some(this)
    }

    /// Starts a tinyproxy that requires authentication: `planted-user` with `planted-secret`.
    pub(crate) fn tinyproxy(test: &str) -> Option<Self> {
        let config = "Port PORT\nListen IP\nTimeout 60\nLogFile \"FOLDER/log\"\nLogLevel Connect\n\
            MaxClients 200\nBasicAuth planted-user planted-secret\n";
        Self::start(test, "127.0.0.1", ("tinyproxy", &["-d", "-c", "CONFIG"]), config)
    }

    /// Starts a `HAProxy` that requires the header of the PROXY protocol, and logs both addresses
    /// in it for each request.
    pub(crate) fn haproxy(test: &str, ip: &str) -> Option<Self> {
        // One thread, since a log line of one thread is dropped while another thread writes.
        let config = "global\n nbthread 1\n log stderr format raw local0\n\
            defaults\n mode http\n log global\n timeout connect 5s\n timeout client 10s\n timeout server 10s\n\
            frontend seen\n bind IP:PORT accept-proxy\n log-format \"seen %ci:%cp %fi:%fp %ST\"\n \
            http-request return status 200 content-type text/plain string \"ok\"\n";
        Self::start(test, ip, ("haproxy", &["-db", "-f", "CONFIG"]), config)
    }

    /// Returns all its output, in its log and on stderr.
    pub(crate) fn said(&self) -> String {
        let log = std::fs::read_to_string(self.place.path().join("log")).unwrap_or_default();
        format!("{log}{}", self.running.stderr())
    }

    /// Returns the lines with `word` in them, once there are `expected`.
    #[track_caller]
    pub(crate) fn lines(&self, word: &str, expected: u64) -> Vec<String> {
        let lines = || -> Vec<String> {
            self.said().lines().filter(|line| line.contains(word)).map(str::to_owned).collect()
        };
        wait_for(|| (lines().len() as u64 >= expected).then_some(()));
        let lines = lines();
        assert_eq!(lines.len() as u64, expected, "{lines:#?}");
        lines
    }
}

/// Waits until `ready` returns a value.
#[track_caller]
fn wait_for<T>(ready: impl FnMut() -> Option<T>) -> T {
    poll_until(LIMIT, ready).unwrap_or_else(|| panic!("nothing after {LIMIT:?}"))
}

/// Starts an nginx on TLS with its own certificate. `log` is its log format, and `more` follows its
/// listen address.
pub(crate) fn secure_nginx(test: &str, more: &str, log: &str) -> Option<Nginx> {
    let place = TestDir::new();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let certificate = place.write("own.pem", made.cert.pem());
    let key = place.write("own.key", made.signing_key.serialize_pem());
    let server = format!(
        "listen LISTEN ssl {more}; ssl_certificate {certificate}; ssl_certificate_key {key};\n\
         location / {{ return 200 \"ok\"; }}"
    );
    Nginx::start(test, place, log, &server)
}
