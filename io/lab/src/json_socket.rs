//! [`JsonSocket`]: JSON objects, one per line, over a socket between the lab's processes.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use serde_json::Value;
use wavetank_units::UserError;

use crate::response::system;

/// Maximum length of a line in bytes. A specification contains the topology file and the files it
/// names.
pub(crate) const LINE_BYTES_MAX: usize = 8 << 20;

/// One end of the connection.
#[derive(Debug)]
pub(crate) struct JsonSocket {
    stream: UnixStream,
    /// Bytes after the last complete line, at most [`LINE_BYTES_MAX`].
    rest: Vec<u8>,
    /// Length of the part of `rest` that is known to contain no line end.
    looked: usize,
    torn: bool,
}

impl JsonSocket {
    pub(crate) const fn new(stream: UnixStream) -> Self {
        Self { stream, rest: Vec::new(), looked: 0, torn: false }
    }

    /// Returns the socket that this process was started with as its standard input. Standard input
    /// is replaced by an empty one, so that child processes do not inherit the socket.
    pub(crate) fn from_stdin() -> std::result::Result<Self, UserError> {
        let taken = || -> Result<UnixStream> {
            let stream = UnixStream::from(rustix::stdio::stdin().try_clone_to_owned()?);
            rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
            Ok(stream)
        };
        taken().map(Self::new).map_err(|error| system("there is no socket to the parent process", &error))
    }

    /// Sends one value.
    pub(crate) fn send(&mut self, value: &Value) -> Result<()> {
        let mut bytes = value.to_string().into_bytes();
        if bytes.len() > LINE_BYTES_MAX {
            return Err(Error::new(ErrorKind::InvalidData, "the line is too long"));
        }
        bytes.push(b'\n');
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.torn |= rest.len() < bytes.len();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Whether only a part of a value was sent. The other side would take the next value for the
    /// rest.
    pub(crate) const fn has_partial_write(&self) -> bool {
        self.torn
    }

    /// Returns the next value; `None` once the other side has closed. Fails with `Interrupted` if a
    /// signal came first, so that a caller that counts signals can check the count.
    pub(crate) fn receive(&mut self) -> Result<Option<Value>> {
        loop {
            if let Some(end) = self.rest[self.looked..].iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=self.looked + end).collect();
                self.looked = 0;
                return serde_json::from_slice(&line).map(Some).map_err(Error::from);
            }
            self.looked = self.rest.len();
            if self.rest.len() > LINE_BYTES_MAX {
                return Err(Error::new(ErrorKind::InvalidData, "the line is too long"));
            }
            let mut chunk = [0; 16 * 1024];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(n) => self.rest.extend_from_slice(&chunk[..n]),
                // The other side closed before it had read everything that was sent to it.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether a whole line was already read together with an earlier one. The socket is not
    /// readable for it any more.
    pub(crate) fn has_line(&self) -> bool {
        self.rest.contains(&b'\n')
    }

    /// Closes the sending direction; the other side reads an end.
    pub(crate) fn shutdown_write(&self) {
        // The other side may already be gone.
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }

    /// Sets the time limit of one read; `None` waits forever.
    pub(crate) fn patience(&self, limit: Option<std::time::Duration>) -> Result<()> {
        self.stream.set_read_timeout(limit)
    }
}

impl AsFd for JsonSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_come_one_by_one_however_they_were_cut() {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        let mut line = JsonSocket::new(ours);
        let mut raw = theirs;
        raw.write_all(b"{\"a\":1}\n{\"b\"").expect("room for a few bytes");
        assert!(!line.has_line());
        assert_eq!(line.receive().expect("a whole line"), Some(json!({ "a": 1 })));
        assert!(!line.has_line());
        raw.write_all(b":2}\n").expect("room for a few bytes");
        drop(raw);
        assert_eq!(line.receive().expect("a whole line"), Some(json!({ "b": 2 })));
        assert_eq!(line.receive().expect("an end"), None);
    }

    #[test]
    fn a_side_that_closes_with_something_unread_has_closed() {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        let (mut line, mut other) = (JsonSocket::new(ours), JsonSocket::new(theirs));
        line.send(&json!("a question")).expect("room for a few bytes");
        other.send(&json!("last line")).expect("room for a few bytes");
        drop(other);
        assert_eq!(line.receive().expect("a whole line"), Some(json!("last line")));
        assert_eq!(line.receive().expect("an end"), None);
    }

    #[test]
    fn of_lines_that_came_together_the_second_is_reported() {
        let (ours, mut theirs) = UnixStream::pair().expect("sockets can be made");
        let mut line = JsonSocket::new(ours);
        theirs.write_all(b"1\n2\n").expect("room for a few bytes");
        assert_eq!(line.receive().expect("a whole line"), Some(json!(1)));
        assert!(line.has_line());
        assert_eq!(line.receive().expect("a whole line"), Some(json!(2)));
        assert!(!line.has_line());
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        let (ours, mut theirs) = UnixStream::pair().expect("sockets can be made");
        theirs.write_all(b"hello\n").expect("room for a few bytes");
        assert!(JsonSocket::new(ours).receive().is_err());
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let (ours, mut theirs) = UnixStream::pair().expect("sockets can be made");
        let writer = std::thread::spawn(move || theirs.write_all(&vec![b'x'; LINE_BYTES_MAX + (4 << 20)]));
        let mut line = JsonSocket::new(ours);
        assert_eq!(line.receive().map_err(|error| error.kind()), Err(ErrorKind::InvalidData));
        drop(line);
        assert!(writer.join().expect("the writer does not panic").is_err());
    }
}
