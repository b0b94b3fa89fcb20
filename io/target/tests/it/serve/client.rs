//! [`Client`]: a plain blocking client, one connection.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use wavetank_driver::probe_uring;
use wavetank_plan::EngineChoice;
use wavetank_target::{ServeOptions, Server, start};

/// A server on a free port of loopback.
pub(crate) fn serve(mut options: ServeOptions) -> (Server, SocketAddr) {
    options.listen = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
    let server = start(options).expect("a free port");
    let address = server.addresses()[0];
    (server, address)
}

/// One connection, with what was read from it and not yet looked at.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
}

/// An answer, read whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The value of a field, by its name in lower case.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

impl Client {
    pub(crate) fn connect(to: SocketAddr) -> Self {
        let stream = TcpStream::connect(to).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a positive timeout");
        stream.set_nodelay(true).expect("a TCP socket");
        Self { stream, unread: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("the server reads");
    }

    /// Ask for a path, and read the answer.
    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send(get(path));
        self.answer()
    }

    /// The next answer to a request other than HEAD.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        let len = answer.field("content-length").map_or(0, |len| len.parse().expect("a number"));
        self.read_to(len);
        answer.body = self.unread.drain(..len).collect();
        answer
    }

    /// The head of the next answer.
    pub(crate) fn head(&mut self) -> Answer {
        let end = loop {
            if let Some(at) = self.unread.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at + 4;
            }
            self.read_to(self.unread.len() + 1);
        };
        let head = String::from_utf8(self.unread.drain(..end).collect()).expect("a head is ASCII");
        let status = head.split(' ').nth(1).expect("a status line").parse().expect("a status");
        Answer { status, head, body: Vec::new() }
    }

    /// Everything until the server closes, which it must do without a reset.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = std::mem::take(&mut self.unread);
        self.stream.read_to_end(&mut rest).expect("a clean end");
        rest
    }

    /// What one receive brings.
    pub(crate) fn read_once(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; 1 << 20];
        // The kernel does not restart a receive with a timeout after a signal has interrupted it
        // (signal(7)).
        let len = loop {
            match self.stream.read(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.expect("an answer"),
            }
        };
        bytes.truncate(len);
        bytes
    }

    fn read_to(&mut self, len: usize) {
        while self.unread.len() < len {
            let more = self.read_once();
            assert!(!more.is_empty(), "closed after {:?}", String::from_utf8_lossy(&self.unread));
            self.unread.extend(more);
        }
    }
}

/// A GET for `path`.
pub(crate) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
}

/// Both drivers, where this host has them.
pub(crate) fn engines() -> Vec<EngineChoice> {
    let uring = probe_uring().is_ok().then_some(EngineChoice::Uring);
    [EngineChoice::Epoll].into_iter().chain(uring).collect()
}
