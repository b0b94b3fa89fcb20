//! [`ControlSocket`]: a control connection, as messages.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wavetank_driver::Clock;
use wavetank_netbench::{ControlLine, LINE_BYTES_MAX};
use wavetank_units::Nanos;

/// Most bytes of a line before the peer has proved that it has the token.
const GREETING_BYTES_MAX: usize = 1_024;

/// A control connection.
#[derive(Debug)]
pub(crate) struct ControlSocket {
    stream: TcpStream,
    line: ControlLine,
    limit: usize,
}

impl ControlSocket {
    /// A connection of which nothing but `start` was read. Only short lines are accepted yet.
    pub(crate) fn new(stream: TcpStream, start: &[u8]) -> Result<Self> {
        stream.set_nodelay(true)?;
        let mut line = ControlLine::default();
        line.add(start, GREETING_BYTES_MAX).map_err(|error| invalid(&error))?;
        Ok(Self { stream, line, limit: GREETING_BYTES_MAX })
    }

    /// Accepts long lines, because the peer has proved that it has the token.
    pub(crate) fn trust(&mut self) {
        self.limit = LINE_BYTES_MAX;
    }

    /// Sends a message.
    pub(crate) fn send<T: Serialize>(&mut self, message: &T) -> Result<()> {
        self.stream.write_all(&ControlLine::encode(message))
    }

    /// Receives a message within `wait`.
    ///
    /// # Errors
    /// `InvalidData` for anything that is not the expected message, `UnexpectedEof` if the peer
    /// has closed the connection, `TimedOut`.
    pub(crate) fn receive<T: DeserializeOwned>(&mut self, wait: Nanos) -> Result<T> {
        let clock = Clock::starting_now();
        let mut buffer = [0; 16 << 10];
        loop {
            if let Some(message) = self.line.next_message().map_err(|error| invalid(&error))? {
                return Ok(message);
            }
            let left = Nanos(wait.0 - clock.now().0);
            if left <= Nanos::ZERO {
                return Err(ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(Duration::from_nanos(left.0.unsigned_abs())))?;
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => {
                    self.line.add(&buffer[..length], self.limit).map_err(|error| invalid(&error))?;
                }
                Err(error) if is_wait(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn invalid(error: &wavetank_netbench::LineError) -> Error {
    Error::new(ErrorKind::InvalidData, error.to_string())
}

/// Whether an error only says that there is nothing yet.
pub(crate) fn is_wait(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
