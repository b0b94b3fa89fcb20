//! [`Client`]: a raw HTTP client for tests of servers: it sends bytes and returns complete
//! responses.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// A response as received.
#[derive(Clone, Debug)]
pub struct Received {
    /// The status line's version.
    pub version: String,
    /// The status.
    pub status: u16,
    /// Header fields in order.
    pub fields: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Received {
    /// The value of a header field, if sent; the name in any case.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// One connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    /// Connects; no read lasts longer than a minute.
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server accepts");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a limit above zero");
        stream.set_nodelay(true).expect("a socket takes TCP_NODELAY");
        Self { stream, buffer: Vec::new() }
    }

    /// Sends these bytes.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).expect("the server reads");
        self
    }

    /// Ends our direction.
    pub fn half_close(&mut self) -> &mut Self {
        self.stream.shutdown(Shutdown::Write).expect("a connected socket can be shut down");
        self
    }

    /// Sends a GET and reads its response.
    #[track_caller]
    pub fn get(&mut self, path: &str) -> Received {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n")).receive()
    }

    /// Reads the response to a GET or a similar method.
    #[track_caller]
    pub fn receive(&mut self) -> Received {
        self.receive_response("GET")
    }

    /// Reads the response to a request with this method (`HEAD` has no body).
    #[track_caller]
    pub fn receive_response(&mut self, method: &str) -> Received {
        let end = loop {
            if let Some(end) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break end;
            }
            assert!(self.fill(), "closed inside a head: {:?}", String::from_utf8_lossy(&self.buffer));
        };
        let head = String::from_utf8(self.buffer.drain(..end + 4).collect()).expect("a head is text");
        let mut received = parse(&head);
        let empty = method == "HEAD" || matches!(received.status, 100..=199 | 204 | 304);
        let length =
            received.field("content-length").map(|length| length.parse::<usize>().expect("a length"));
        match length {
            _ if empty => {}
            Some(length) => {
                while self.buffer.len() < length {
                    assert!(self.fill(), "closed inside a body");
                }
                received.body = self.buffer.drain(..length).collect();
            }
            None => {
                while self.fill() {}
                received.body = std::mem::take(&mut self.buffer);
            }
        }
        received
    }

    /// True if the server ends the connection without sending anything more.
    pub fn ended(&mut self) -> bool {
        self.buffer.is_empty() && !self.fill()
    }

    /// Reads some bytes; false at the end of the connection. Panics on a timeout.
    #[track_caller]
    fn fill(&mut self) -> bool {
        let mut chunk = [0; 16 * 1024];
        match self.stream.read(&mut chunk) {
            Ok(n) => {
                self.buffer.extend_from_slice(&chunk[..n]);
                n > 0
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => false,
            Err(error) => panic!("no data from the server: {error}"),
        }
    }
}

fn parse(head: &str) -> Received {
    let mut lines = head.trim_end().split("\r\n");
    let line = lines.next().expect("a head has a first line");
    let mut words = line.splitn(3, ' ');
    let version = words.next().expect("split gives at least one part").to_owned();
    let status = words.next().and_then(|word| word.parse().ok());
    let status = status.unwrap_or_else(|| panic!("not a status line: {line}"));
    let fields = lines.map(|line| line.split_once(':').unwrap_or_else(|| panic!("not a field: {line}")));
    let fields = fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
    Received { version, status, fields, body: Vec::new() }
}
