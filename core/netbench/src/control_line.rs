//! [`ControlLine`]: messages as lines of JSON, with a limit on their length.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Most bytes of a line. Results of 128 streams with 1,000 intervals each fit.
pub const LINE_BYTES_MAX: usize = 4 << 20;

/// Splits received bytes into lines.
#[derive(Debug, Default)]
pub struct ControlLine {
    received: Vec<u8>,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineError {
    /// It is longer than the limit.
    TooLong,
    /// It is not the expected message.
    NotAMessage,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "a message is too long",
            Self::NotAMessage => "what it sent is not a message of `wavetank net`",
        })
    }
}

impl ControlLine {
    /// Adds received bytes. `limit` is the most bytes of a line; before the peer has proved who it
    /// is, a small one.
    ///
    /// # Errors
    /// [`LineError::TooLong`] if there are more without an end of line.
    pub fn add(&mut self, bytes: &[u8], limit: usize) -> Result<(), LineError> {
        self.received.extend_from_slice(bytes);
        let is_too_long = self.received.len() > limit.min(LINE_BYTES_MAX) && !self.received.contains(&b'\n');
        if is_too_long { Err(LineError::TooLong) } else { Ok(()) }
    }

    /// Returns the next complete message.
    ///
    /// # Errors
    /// [`LineError::NotAMessage`] if the next line is something else.
    pub fn next_message<T: DeserializeOwned>(&mut self) -> Result<Option<T>, LineError> {
        let Some(end) = self.received.iter().position(|&byte| byte == b'\n') else { return Ok(None) };
        let line: Vec<u8> = self.received.drain(..=end).collect();
        serde_json::from_slice(&line[..end]).map(Some).map_err(|_| LineError::NotAMessage)
    }

    /// Encodes a message as a line.
    pub fn encode<T: Serialize>(message: &T) -> Vec<u8> {
        let mut line = serde_json::to_vec(message).expect("plain data with string keys always encodes");
        line.push(b'\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClientRequest, FlowResult, ServerReply};

    #[test]
    fn messages_are_found_for_any_split_of_the_bytes() {
        let sent = [
            ClientRequest::Expect { test: 1, streams: 4, millis: 3_000 },
            ClientRequest::Collect { test: 1, sent: 0 },
        ];
        let bytes: Vec<u8> = sent.iter().flat_map(ControlLine::encode).collect();
        for size in 1..bytes.len() {
            let (mut line, mut read) = (ControlLine::default(), Vec::new());
            for part in bytes.chunks(size) {
                line.add(part, 256).expect("short lines");
                while let Some(request) = line.next_message::<ClientRequest>().expect("messages") {
                    read.push(request);
                }
            }
            assert_eq!(read, sent, "parts of {size}");
        }
    }

    #[test]
    fn long_and_foreign_lines_are_errors() {
        let mut line = ControlLine::default();
        assert_eq!(line.add(&[b'x'; 300], 256), Err(LineError::TooLong));
        let mut line = ControlLine::default();
        line.add(b"GET / HTTP/1.1\r\n", 256).expect("short");
        assert_eq!(line.next_message::<ClientRequest>(), Err(LineError::NotAMessage));
    }

    #[test]
    fn the_largest_result_fits() {
        let flow = FlowResult { intervals: vec![u64::MAX / 1_000; 1_000], ..FlowResult::default() };
        let line = ControlLine::encode(&ServerReply::Flows(vec![flow; 128]));
        assert!(line.len() < LINE_BYTES_MAX, "{}", line.len());
    }
}
