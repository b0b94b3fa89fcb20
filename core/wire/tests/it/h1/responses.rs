//! Every case of `cases/responses.txt`, whole and cut in every way.

use wavetank_wire::h1::{Eof, Progress, ResponseEnd, ResponseHead, ResponseReader, ResponseSink};

use crate::h1::table::{Case, check, escape, table};

/// Writes down the results of the reader in the notation of the table.
struct Notes<'a> {
    show: Option<&'a str>,
    said: Vec<String>,
    body: Vec<u8>,
}

impl ResponseSink for Notes<'_> {
    fn head(&mut self, head: &ResponseHead<'_>) {
        assert!(self.body.is_empty(), "a head in the midst of a body");
        if let Some(name) = self.show {
            let value = head.header(name).map_or("none".to_owned(), escape);
            self.said.push(format!("{name}={value}"));
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        self.body.extend_from_slice(bytes);
    }

    fn interim(&mut self, head: &ResponseHead<'_>) {
        self.said.push(head.status.to_string());
    }
}

impl Notes<'_> {
    fn answer(&mut self, answer: ResponseEnd, how: &str) {
        let ResponseEnd { status, keep_alive, close_announced, body_bytes, .. } = answer;
        assert_ne!(keep_alive, close_announced);
        assert_eq!(body_bytes, self.body.len() as u64);
        let kept = if keep_alive { "keep" } else { "close" };
        let body = escape(&std::mem::take(&mut self.body));
        self.said.push(format!("{status} {kept} {body_bytes} \"{body}\"{how}"));
    }
}

fn read(case: &Case, pieces: &[&[u8]]) -> String {
    let mut notes = Notes { show: case.option("show"), said: Vec::new(), body: Vec::new() };
    let head_request = case.option("head").is_some();
    let mut awaited = case.option("answers").map_or(1, |count| count.parse().unwrap());
    let mut reader = ResponseReader::new(case.limits());
    let mut surplus = 0;
    reader.expect(head_request);
    for mut rest in pieces.iter().copied() {
        while !rest.is_empty() {
            let Progress { consumed, answer } = match reader.read(rest, &mut notes) {
                Ok(progress) => progress,
                Err(fault) => {
                    assert_eq!(reader.read(b"HTTP/1.1 204 No\r\n\r\n", &mut notes), Err(fault));
                    notes.said.push(format!("fault {:?}", fault.reason));
                    return notes.said.join(" ; ");
                }
            };
            assert!(consumed <= rest.len());
            rest = &rest[consumed..];
            if let Some(answer) = answer {
                notes.answer(answer, "");
                awaited -= 1;
                if awaited > 0 {
                    reader.expect(head_request);
                }
            } else if awaited == 0 {
                surplus += rest.len();
                break;
            } else {
                assert!(rest.is_empty(), "bytes left over by an answer that is not complete");
            }
        }
    }
    match reader.eof() {
        Eof::Idle => assert_eq!(awaited, 0),
        Eof::Complete(answer) => notes.answer(answer, " at eof"),
        Eof::Early { began } => notes.said.push(if began { "early" } else { "early unbegun" }.to_owned()),
    }
    if surplus > 0 {
        notes.said.push(format!("+{surplus}"));
    }
    notes.said.join(" ; ")
}

#[test]
fn every_case_however_it_is_cut() {
    check(&table(include_str!("cases/responses.txt")), 250, read);
}
