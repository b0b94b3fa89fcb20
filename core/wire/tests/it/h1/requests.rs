//! Every case of `cases/requests.txt`, whole and cut in every way.

use wavetank_wire::h1::{RequestEnd, RequestEof, RequestHead, RequestProgress, RequestReader};
use wavetank_wire::h1::{RequestSink, Version};

use crate::h1::table::{Case, check, escape, table};

/// Writes down the results of the reader in the notation of the table.
#[derive(Default)]
struct Notes<'a> {
    show: Option<&'a str>,
    said: Vec<String>,
    begun: String,
    expect_continue: bool,
    body: Vec<u8>,
}

impl RequestSink for Notes<'_> {
    fn head(&mut self, head: &RequestHead<'_>) {
        assert!(self.begun.is_empty() && self.body.is_empty(), "a head in the midst of a request");
        if let Some(name) = self.show {
            let value = head.header(name).map_or("none".to_owned(), escape);
            self.said.push(format!("{name}={value}"));
        }
        let version = if head.version == Version::Http10 { "1.0" } else { "1.1" };
        self.begun = format!("{} {} {version}", escape(head.method), escape(head.target));
        self.expect_continue = head.expect_continue;
    }

    fn body(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        self.body.extend_from_slice(bytes);
    }
}

impl Notes<'_> {
    fn end(&mut self, end: RequestEnd) {
        let RequestEnd { keep_alive, http_10, head_request, body_bytes } = end;
        let begun = std::mem::take(&mut self.begun);
        assert_eq!(body_bytes, self.body.len() as u64);
        assert_eq!(http_10, begun.ends_with(" 1.0"));
        assert_eq!(head_request, begun.starts_with("HEAD "));
        let kept = if keep_alive { "keep" } else { "close" };
        let waits = if self.expect_continue { " continue" } else { "" };
        let body = escape(&std::mem::take(&mut self.body));
        self.said.push(format!("{begun} {kept} {body_bytes} \"{body}\"{waits}"));
    }
}

fn read(case: &Case, pieces: &[&[u8]]) -> String {
    let mut notes = Notes { show: case.option("show"), ..Notes::default() };
    let mut reader = RequestReader::new(case.limits());
    for mut rest in pieces.iter().copied() {
        while !rest.is_empty() {
            let RequestProgress { consumed, request } = match reader.read(rest, &mut notes) {
                Ok(progress) => progress,
                Err(fault) => {
                    assert_eq!(reader.read(b"GET / HTTP/1.0\r\n\r\n", &mut notes), Err(fault));
                    notes.said.push(format!("fault {:?}", fault.reason));
                    return notes.said.join(" ; ");
                }
            };
            assert!(consumed <= rest.len());
            rest = &rest[consumed..];
            match request {
                Some(end) => notes.end(end),
                None => assert!(rest.is_empty(), "bytes left over by a request that is not complete"),
            }
        }
    }
    if reader.eof() == RequestEof::Early {
        notes.said.push("early".to_owned());
    }
    notes.said.join(" ; ")
}

#[test]
fn every_case_however_it_is_cut() {
    check(&table(include_str!("cases/requests.txt")), 85, read);
}
