//! [`TargetPoller`]: asks the target for its own counts on one connection that stays open, so that
//! polling leaves no closed sockets.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// Longest time to wait for a response.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// Longest accepted response body, in bytes.
const BODY_MAX: usize = 1 << 20;

/// The target's counts of connections at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// Open connections.
    pub(super) open: u64,
    /// Connections accepted since its start.
    pub(super) accepted: u64,
    /// Responses sent since its start, except those to this poller.
    pub(super) answers: u64,
}

/// An open connection to the target.
pub(super) struct TargetPoller {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
}

impl TargetPoller {
    /// Connects to the target.
    pub(super) fn to(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).context("cannot connect to the target")?;
        stream.set_read_timeout(Some(ANSWER_MAX)).context("a timeout")?;
        stream.set_write_timeout(Some(ANSWER_MAX)).context("a timeout")?;
        stream.set_nodelay(true).context("TCP_NODELAY")?;
        Ok(Self { stream: BufReader::new(stream), address })
    }

    /// Returns the current counts of connections and responses. `/truth` is too slow for this,
    /// since it sorts the timestamps of millions of requests. Polling it took half of the target's
    /// time.
    pub(super) fn standing(&mut self) -> Result<Standing> {
        let said = self.get("/truth/connections")?;
        let count = |name: &str| said[name].as_u64().with_context(|| format!("/truth/connections: {said}"));
        Ok(Standing { open: count("open")?, accepted: count("accepted")?, answers: count("answers")? })
    }

    fn get(&mut self, path: &str) -> Result<Value> {
        write!(self.stream.get_mut(), "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address)
            .with_context(|| format!("cannot request {path}"))?;
        let body = self.body().with_context(|| format!("the response to {path}"))?;
        serde_json::from_slice(&body).with_context(|| format!("the response to {path}"))
    }

    fn body(&mut self) -> Result<Vec<u8>> {
        let (mut status, mut length) = (String::new(), None);
        self.stream.read_line(&mut status)?;
        ensure!(status.starts_with("HTTP/1.1 200"), "`{}`", status.trim());
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line)? == 0 {
                bail!("the response ended early");
            }
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().ok();
            }
        }
        let length: usize = length.context("no content-length")?;
        ensure!(length <= BODY_MAX, "{length} bytes");
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Checks what the poller reads from a peer that sends `answer` and closes.
    fn check(answer: &'static str, expected: Option<Standing>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let peer = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            // Read the whole request. Closing with unread data resets the connection, and the
            // response may be lost.
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).expect("a question");
                asked.push(byte[0]);
            }
            stream.write_all(answer.as_bytes()).expect("an answer");
            String::from_utf8_lossy(&asked).into_owned()
        });
        let standing = TargetPoller::to(address).expect("a peer").standing();
        assert_eq!(standing.ok(), expected, "{answer}");
        assert!(peer.join().expect("the peer").starts_with("GET /truth/connections HTTP/1.1\r\n"));
    }

    #[test]
    fn answers_are_read_whole() {
        check(
            "HTTP/1.1 200 OK\r\nContent-Length: 36\r\n\r\n{\"open\": 7,\"accepted\":9,\"answers\":8}",
            Some(Standing { open: 7, accepted: 9, answers: 8 }),
        );
        check("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", None);
        check("HTTP/1.1 200 OK\r\n\r\n{}", None);
        check("HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\n{\"open\"", None);
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", None);
        check("HTTP/1.1 200 OK\r\nContent", None);
    }
}
