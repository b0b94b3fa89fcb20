//! The fuzz target of the response reader.

use crate::h1::{Eof, Progress, ResponseHead, ResponseReader, ResponseSink};

use super::transcript::{Cut, Transcript, limits_from};

impl ResponseSink for Transcript {
    fn head(&mut self, head: &ResponseHead<'_>) {
        self.note(format_args!("head {:?} {} {}", head.version, head.status, head.reason.escape_ascii()));
        self.note_fields(head.headers());
    }

    fn body(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "an empty piece of a body");
        self.body.extend_from_slice(bytes);
    }

    fn interim(&mut self, head: &ResponseHead<'_>) {
        self.note(format_args!("interim {} {}", head.status, head.reason.escape_ascii()));
        self.note_fields(head.headers());
    }
}

/// Reads `data` as the responses on a connection. The first byte chooses the limits and which
/// requests were HEAD.
pub fn response(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    Cut::same_for_all(data, |cut| read(choice, bytes, cut));
}

fn read(choice: u8, bytes: &[u8], cut: &mut Cut) -> Transcript {
    let mut said = Transcript::default();
    let mut reader = ResponseReader::new(limits_from(choice));
    reader.expect(choice & 1 != 0);
    let mut rest = bytes;
    while !rest.is_empty() {
        let piece = cut.piece(rest);
        let Progress { consumed, answer } = match reader.read(piece, &mut said) {
            Ok(progress) => progress,
            Err(fault) => {
                assert_eq!(reader.read(piece, &mut said), Err(fault), "a fault that is not repeated");
                said.note(format_args!("fault {:?}", fault.reason));
                return said;
            }
        };
        assert!(consumed <= piece.len(), "consumed more than it received");
        rest = &rest[consumed..];
        match answer {
            Some(answer) => {
                assert!(reader.is_idle(), "an answer that leaves the reader busy");
                said.note(format_args!("{answer:?}"));
                reader.expect(choice & 4 != 0);
            }
            None => assert_eq!(consumed, piece.len(), "left bytes of an answer that is not complete"),
        }
    }
    let eof = reader.eof();
    assert!(eof != Eof::Idle, "an awaited answer forgotten");
    said.note(format_args!("{eof:?}"));
    said
}
