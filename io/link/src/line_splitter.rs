//! [`LineSplitter`] and [`LineReader`]: lines of a byte stream, each with a maximum length.

use std::fmt;
use std::io::Read;

/// Bytes read at a time.
pub(crate) const READ_BYTES: usize = 64 << 10;
/// A buffer that a long line left behind is given back if it is larger than this, in bytes.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Cuts bytes into lines, for any split of the bytes.
#[derive(Debug)]
pub(crate) struct LineSplitter {
    buffer: Vec<u8>,
    /// Start of the line that is not yet returned.
    start: usize,
    /// Bytes before it have no newline after `start`.
    scanned: usize,
    bytes_max: usize,
}

/// A line is longer than its maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineTooLong {
    /// The maximum, in bytes.
    pub(crate) bytes_max: usize,
}

impl fmt::Display for LineTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a line is longer than {} bytes", self.bytes_max)
    }
}

impl LineSplitter {
    /// `bytes_max` is of a line without its newline.
    pub(crate) const fn new(bytes_max: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, scanned: 0, bytes_max }
    }

    /// Adds bytes as they came.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.buffer.is_empty() && self.buffer.capacity() > KEPT_BYTES_MAX {
            self.buffer = Vec::new();
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next complete line without its newline.
    ///
    /// # Errors
    /// If the line is too long, complete or not. The stream is of no use then.
    pub(crate) fn next_line(&mut self) -> Result<Option<&[u8]>, LineTooLong> {
        let newline = memchr::memchr(b'\n', &self.buffer[self.scanned..]).map(|at| self.scanned + at);
        let end = newline.unwrap_or(self.buffer.len());
        if end - self.start > self.bytes_max {
            return Err(LineTooLong { bytes_max: self.bytes_max });
        }
        let start = self.start;
        if newline.is_none() {
            self.scanned = end;
            return Ok(None);
        }
        self.start = end + 1;
        self.scanned = self.start;
        Ok(Some(&self.buffer[start..end]))
    }

    /// Returns the number of bytes of the line that is not complete.
    pub(crate) const fn partial_bytes(&self) -> usize {
        self.buffer.len() - self.start
    }
}

/// Reads lines from a stream.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    input: R,
    splitter: LineSplitter,
    chunk: Vec<u8>,
}

/// Why no more lines follow.
#[derive(Debug)]
pub(crate) enum LinesEnd {
    /// The other end closed the stream after a complete line.
    Closed,
    /// The other end closed the stream within a line.
    Cut {
        /// Bytes of that line.
        bytes: usize,
    },
    /// A line is too long.
    TooLong(LineTooLong),
    /// The stream cannot be read.
    Failed(std::io::Error),
}

impl fmt::Display for LinesEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the other end closed the connection"),
            Self::Cut { bytes } => {
                write!(f, "the other end closed the connection {bytes} bytes into a message")
            }
            Self::TooLong(error) => error.fmt(f),
            Self::Failed(error) => write!(f, "cannot read: {error}"),
        }
    }
}

impl<R: Read> LineReader<R> {
    /// `bytes_max` is of a line without its newline.
    pub(crate) fn new(input: R, bytes_max: usize) -> Self {
        Self { input, splitter: LineSplitter::new(bytes_max), chunk: vec![0; READ_BYTES] }
    }

    /// Calls `line` with each line until it returns false or the stream ends.
    ///
    /// # Errors
    /// The reason why no more lines follow.
    pub(crate) fn for_each(&mut self, mut line: impl FnMut(&[u8]) -> bool) -> Result<(), LinesEnd> {
        loop {
            while let Some(text) = self.splitter.next_line().map_err(LinesEnd::TooLong)? {
                if !line(text) {
                    return Ok(());
                }
            }
            match self.input.read(&mut self.chunk) {
                Ok(0) => {
                    let bytes = self.splitter.partial_bytes();
                    return Err(if bytes == 0 { LinesEnd::Closed } else { LinesEnd::Cut { bytes } });
                }
                Ok(count) => self.splitter.add(&self.chunk[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(LinesEnd::Failed(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A stream that returns its bytes in pieces of these lengths, in turn.
    struct Pieces {
        bytes: Vec<u8>,
        at: usize,
        lengths: Vec<usize>,
        turn: usize,
    }

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let length = self.lengths[self.turn % self.lengths.len()];
            self.turn += 1;
            if length == 0 {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let count = length.min(into.len()).min(self.bytes.len() - self.at);
            into[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
            self.at += count;
            Ok(count)
        }
    }

    fn bytes_with_newlines() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![4 => any::<u8>(), 1 => Just(b'\n')];
        proptest::collection::vec(byte, 0..400)
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_the_split(
            bytes in bytes_with_newlines(),
            lengths in proptest::collection::vec(0_usize..40, 1..20),
            bytes_max in 0_usize..60,
        ) {
            let lengths = lengths.into_iter().chain([7]).collect();
            let mut expected: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
            let rest = expected.pop().unwrap_or_default().len();
            let too_long = expected.iter().position(|line| line.len() > bytes_max);
            let mut found = Vec::new();
            let mut reader =
                LineReader::new(Pieces { bytes: bytes.clone(), at: 0, lengths, turn: 0 }, bytes_max);
            let end = reader.for_each(|line| {
                found.push(line.to_vec());
                true
            });
            prop_assert_eq!(&found, &expected[..too_long.unwrap_or(expected.len())]);
            match end {
                Err(LinesEnd::TooLong(_)) => prop_assert!(too_long.is_some() || rest > bytes_max),
                Err(LinesEnd::Cut { bytes }) => prop_assert!(bytes == rest && too_long.is_none()),
                Err(LinesEnd::Closed) => prop_assert!(rest == 0 && too_long.is_none()),
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn a_long_line_is_refused_before_its_end_and_its_buffer_is_given_back() {
        let mut splitter = LineSplitter::new(2 << 20);
        splitter.add(&vec![b'x'; 2 << 20]);
        assert_eq!(splitter.next_line(), Ok(None));
        splitter.add(b"\nshort\n");
        assert_eq!(splitter.next_line().map(|line| line.map(<[u8]>::len)), Ok(Some(2 << 20)));
        assert_eq!(splitter.next_line(), Ok(Some(b"short".as_slice())));
        splitter.add(b"y");
        assert!(splitter.buffer.capacity() < KEPT_BYTES_MAX);
        splitter.add(&vec![b'x'; 2 << 20]);
        assert_eq!(splitter.next_line(), Err(LineTooLong { bytes_max: 2 << 20 }));
    }
}
