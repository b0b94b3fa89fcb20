//! The results of a reader for a stream of bytes, in a form that allows two readings to be
//! compared.

use std::fmt::{Debug, Write};

use crate::h1::{Headers, Limits};

/// Everything that must not depend on how the bytes were cut.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Transcript {
    /// One line per event.
    pub(super) events: String,
    /// All body bytes of the messages read so far.
    pub(super) body: Vec<u8>,
}

impl Transcript {
    /// Adds an event.
    pub(super) fn note(&mut self, event: std::fmt::Arguments<'_>) {
        writeln!(self.events, "{event}").expect("writing to a string cannot fail");
    }

    /// Adds the fault that `read` returns, and checks that it returns it again.
    pub(super) fn note_fault<F: PartialEq + Debug>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<(), F>,
    ) -> Result<(), F> {
        let result = read(self);
        if let Err(fault) = &result {
            assert_eq!(read(self).as_ref(), Err(fault), "a fault that is not repeated");
            self.note(format_args!("fault {fault:?}"));
        }
        result
    }

    /// Adds the fields of a head, and checks the guarantees of every accepted head.
    pub(super) fn note_fields(&mut self, headers: Headers<'_>) {
        for (name, value) in headers {
            let is_printable = |byte: &u8| *byte >= b' ' && *byte != 0x7f && *byte != b':' || *byte == b'\t';
            assert!(name.iter().all(is_printable), "a name that is not printable: {name:?}");
            assert!(!value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)), "a value with a line end");
            self.note(format_args!("{} = {}", name.escape_ascii(), value.escape_ascii()));
        }
    }
}

/// Derives limits from the first byte of fuzz input. Tight limits reach the code behind them soon.
pub(super) fn limits_from(choice: u8) -> Limits {
    if choice & 2 == 0 {
        return Limits::default();
    }
    Limits {
        head_bytes_max: 96,
        headers_max: 4,
        body_bytes_max: 32,
        interim_max: 2,
        chunk_extension_bytes_max: 12,
        trailer_bytes_max: 24,
    }
}

/// The lengths of pieces for one reading: constant, or drawn from a generator seeded by the bytes.
pub(super) enum Cut {
    /// Every piece this long.
    Every(usize),
    /// Pieces of 1 to 16 bytes, from this state of a linear congruential generator.
    Drawn(u64),
}

impl Cut {
    /// Returns the result of reading the whole, which each reading in pieces must have, too.
    pub(super) fn same_for_all<R: PartialEq + Debug>(data: &[u8], mut read: impl FnMut(&mut Self) -> R) -> R {
        let whole = read(&mut Self::Every(usize::MAX));
        let seed = data.iter().fold(1u64, |seed, &byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        for mut cut in [Self::Every(1), Self::Every(3), Self::Drawn(seed)] {
            assert_eq!(read(&mut cut), whole, "the result depends on how reads were cut");
        }
        whole
    }

    /// Calls `read` with the pieces of `bytes` until it returns a fault, which it must repeat.
    pub(super) fn feed<F: PartialEq + Debug>(
        &mut self,
        bytes: &[u8],
        said: &mut Transcript,
        mut read: impl FnMut(&[u8], &mut Transcript) -> Result<(), F>,
    ) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let piece = self.piece(rest);
            rest = &rest[piece.len()..];
            if said.note_fault(|said| read(piece, said)).is_err() {
                return;
            }
        }
    }

    /// The next piece of `rest`, which is not empty.
    pub(super) fn piece<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        let wanted = match self {
            Self::Every(length) => *length,
            Self::Drawn(state) => {
                *state =
                    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (*state >> 60) as usize + 1
            }
        };
        &rest[..wanted.min(rest.len())]
    }
}
