//! [`Site`]: a server in a folder of its own. [`Reply`]: what it replies to one request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use wavetank_control::RunFolder;
use wavetank_ui::{UiConfig, UiServer};

/// No reply takes as long.
const LIMIT: Duration = Duration::from_mins(1);

/// A server with the folders that it shows.
pub(crate) struct Site {
    pub(crate) server: UiServer,
    pub(crate) place: TempDir,
    /// The cookie of an open session.
    pub(crate) cookie: String,
}

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The head, in lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Site {
    pub(crate) fn start() -> Self {
        Self::start_with(Path::new("/bin/false"), None)
    }

    /// A server that starts `program` for its commands.
    pub(crate) fn start_with(program: &Path, process: Option<u32>) -> Self {
        let place = tempfile::tempdir().expect("a folder");
        for name in ["run-time", "runs", "experiments"] {
            std::fs::create_dir(place.path().join(name)).expect("a folder");
        }
        let server = UiServer::start(UiConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            runs_dir: place.path().join("runs"),
            run_folder: RunFolder::of_user(Some(&place.path().join("run-time"))),
            experiments: place.path().join("experiments"),
            program: program.to_owned(),
            process,
        });
        let server = server.expect("it listens");
        let mut site = Self { server, place, cookie: String::new() };
        let opened = site.send("GET", &site.token_path(), &[], "");
        let cookie = opened.head.split("set-cookie: ").nth(1).and_then(|rest| rest.split(';').next());
        cookie.unwrap_or_else(|| panic!("no cookie: {opened:?}")).clone_into(&mut site.cookie);
        site
    }

    /// Path and query of a new address.
    pub(crate) fn token_path(&self) -> String {
        let url = self.server.new_url().expect("random bytes");
        url.split_once(&self.server.address().to_string()).expect("its own address").1.to_owned()
    }

    /// Sends a request with exactly these headers in addition to `Host`, if they have none.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut reader = BufReader::new(self.connect(method, path, headers, body));
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("it closes the connection");
        Reply::new(&text)
    }

    /// Sends a request and returns the connection.
    pub(crate) fn connect(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        let mut stream = TcpStream::connect(self.server.address()).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        let host = self.server.address().to_string();
        let own = [("Host", host.as_str())];
        let own = own.into_iter().filter(|_| !headers.iter().any(|(name, _)| *name == "Host"));
        let lines: Vec<String> =
            own.chain(headers.iter().copied()).map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\n{}Content-Length: {length}\r\n\r\n{body}",
            lines.concat()
        );
        stream.write_all(text.as_bytes()).expect("it reads");
        stream
    }

    /// A page or a value, in the session.
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[("Cookie", &self.cookie)], "")
    }

    /// A change, as the page sends it.
    pub(crate) fn post(&self, path: &str, body: &str) -> Reply {
        let origin = format!("http://{}", self.server.address());
        let headers = [
            ("Cookie", self.cookie.as_str()),
            ("Origin", &origin),
            ("X-Wavetank", "1"),
            ("Content-Type", "application/json"),
        ];
        self.send("POST", path, &headers, body)
    }

    /// Reads the lines of an endless reply until `found` accepts one.
    pub(crate) fn read_until(stream: TcpStream, found: impl Fn(&str) -> bool) -> String {
        let lines = BufReader::new(stream).lines().map(|line| line.expect("a line in time"));
        lines.into_iter().find(|line| found(line)).expect("the line comes before the end")
    }
}

impl Reply {
    fn new(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no reply: {text}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Self { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    #[track_caller]
    pub(crate) fn expect(&self, status: u16, part: &str) -> &Self {
        assert!(self.status == status && self.body.contains(part), "not {status} with {part}: {self:?}");
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
