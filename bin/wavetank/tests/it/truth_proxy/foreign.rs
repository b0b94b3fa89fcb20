//! [`Foreign`]: some other program that listens on a port, and what it says.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{Nginx, Place, Program, Running, Trial, free_port, skip};

/// Longer than any line is on its way.
const LIMIT: Duration = Duration::from_secs(20);

/// Every engine, and on `io_uring` the way without sockets that are made in their slots.
pub(crate) const WAYS: [(&str, &str); 3] = [("epoll", ""), ("uring", ""), ("uring", "bind_op")];

/// See the module's description. Killed when dropped.
pub(crate) struct Foreign {
    running: Running,
    pub(crate) address: SocketAddr,
    place: Place,
}

pub(crate) fn trial() -> Trial {
    Trial::new(env!("CARGO_BIN_EXE_wavetank"))
}

impl Foreign {
    /// `program` with `words` and its configuration, in which `IP` and `PORT` say where it listens and `FOLDER` where it
    /// may write; `CONFIG` in the words is the configuration's file. `None`, told as a skip of `test`, where it is not
    /// installed.
    fn start(test: &str, ip: &str, (program, words): (&str, &[&str]), config: &str) -> Option<Self> {
        let Some(called) = Program::foreign(program) else {
            skip(test, &format!("{program} is not installed"));
            return None;
        };
        let place = Place::new();
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

    /// A tinyproxy that wants to know who asks: `planted-user` with `planted-secret`.
    pub(crate) fn tinyproxy(test: &str) -> Option<Self> {
        let config = "Port PORT\nListen IP\nTimeout 60\nLogFile \"FOLDER/log\"\nLogLevel Connect\n\
            MaxClients 200\nBasicAuth planted-user planted-secret\n";
        Self::start(test, "127.0.0.1", ("tinyproxy", &["-d", "-c", "CONFIG"]), config)
    }

    /// A `HAProxy` that wants the header of the PROXY protocol and logs, of each request, the ends in it.
    pub(crate) fn haproxy(test: &str, ip: &str) -> Option<Self> {
        // One thread: a line of one thread is dropped while another writes its own.
        let config = "global\n nbthread 1\n log stderr format raw local0\n\
            defaults\n mode http\n log global\n timeout connect 5s\n timeout client 10s\n timeout server 10s\n\
            frontend seen\n bind IP:PORT accept-proxy\n log-format \"seen %ci:%cp %fi:%fp %ST\"\n \
            http-request return status 200 content-type text/plain string \"ok\"\n";
        Self::start(test, ip, ("haproxy", &["-db", "-f", "CONFIG"]), config)
    }

    /// Everything it has said, in its log or on standard error.
    pub(crate) fn said(&self) -> String {
        let log = std::fs::read_to_string(self.place.path().join("log")).unwrap_or_default();
        format!("{log}{}", self.running.stderr())
    }

    /// The lines with `word` in them, once there are `expected`.
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

/// What `ready` gives, once it does.
#[track_caller]
fn wait_for<T>(ready: impl FnMut() -> Option<T>) -> T {
    poll_until(LIMIT, ready).unwrap_or_else(|| panic!("nothing after {LIMIT:?}"))
}

/// An nginx on TLS with a certificate of its own, whose log is made of `log`; `more` stands behind its address.
pub(crate) fn secure_nginx(test: &str, more: &str, log: &str) -> Option<Nginx> {
    let place = Place::new();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let certificate = place.write("own.pem", made.cert.pem());
    let key = place.write("own.key", made.signing_key.serialize_pem());
    let server = format!(
        "listen LISTEN ssl {more}; ssl_certificate {certificate}; ssl_certificate_key {key};\n\
         location / {{ return 200 \"ok\"; }}"
    );
    Nginx::start(test, place, log, &server)
}
