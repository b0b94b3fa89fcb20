//! The fuzz target of the request reader.

use crate::h1::{RequestHead, RequestProgress, RequestReader, RequestSink};

use super::transcript::{Cut, Transcript, limits_from};

impl RequestSink for Transcript {
    fn head(&mut self, head: &RequestHead<'_>) {
        let (method, target) = (head.method.escape_ascii(), head.target.escape_ascii());
        self.note(format_args!("head {:?} {method} {target} {}", head.version, head.expect_continue));
        self.note_fields(head.headers());
    }

    fn body(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "an empty piece of a body");
        self.body.extend_from_slice(bytes);
    }
}

/// Reads `data` as a connection's requests: its first byte chooses the limits.
pub fn request(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    Cut::same_for_all(data, |cut| read(choice, bytes, cut));
}

fn read(choice: u8, bytes: &[u8], cut: &mut Cut) -> Transcript {
    let mut said = Transcript::default();
    let mut reader = RequestReader::new(limits_from(choice));
    let mut rest = bytes;
    while !rest.is_empty() {
        let piece = cut.piece(rest);
        let RequestProgress { consumed, request } = match reader.read(piece, &mut said) {
            Ok(progress) => progress,
            Err(fault) => {
                assert_eq!(reader.read(piece, &mut said), Err(fault), "a fault that is not repeated");
                said.note(format_args!("fault {:?}", fault.reason));
                return said;
            }
        };
        assert!(consumed <= piece.len(), "consumed more than it received");
        rest = &rest[consumed..];
        match request {
            Some(end) => {
                assert!(reader.is_idle(), "a request that leaves the reader busy");
                said.note(format_args!("{end:?}"));
            }
            None => assert_eq!(consumed, piece.len(), "left bytes of a request that is not complete"),
        }
    }
    said.note(format_args!("{:?}", reader.eof()));
    said
}
