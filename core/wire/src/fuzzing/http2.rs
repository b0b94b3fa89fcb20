//! The fuzz targets of HTTP/2.

use crate::h1::{Limits, RequestEnd, RequestHead, ResponseEnd, ResponseHead};
use crate::h2::{Client, ClientSink, Server, ServerSink, StreamFailure};

use super::transcript::{Cut, Transcript};

/// No input may make the machine write more than this before it is sent.
const OUT_BYTES_MAX: usize = 1 << 20;
const EMPTY_SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

impl ClientSink<u32> for Transcript {
    fn began(&mut self, tag: &mut u32) -> bool {
        !tag.is_multiple_of(2)
    }

    fn head(&mut self, tag: &mut u32, head: &ResponseHead<'_>) {
        self.note(format_args!("{tag} head {}", head.status));
        self.note_fields(head.headers());
    }

    fn body(&mut self, _: &mut u32, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "an empty piece of a body");
    }

    fn answered(&mut self, tag: u32, end: ResponseEnd) {
        self.note(format_args!("{tag} {end:?}"));
    }

    fn failed(&mut self, tag: u32, failure: StreamFailure) {
        self.note(format_args!("{tag} {failure:?}"));
    }
}

impl ServerSink for Transcript {
    fn head(&mut self, stream: u32, head: &RequestHead<'_>) {
        let (method, target) = (head.method.escape_ascii(), head.target.escape_ascii());
        self.note(format_args!("{stream} head {method} {target} {}", head.expect_continue));
        self.note_fields(head.headers());
    }

    fn body(&mut self, _: u32, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "an empty piece of a body");
    }

    fn request(&mut self, stream: u32, end: RequestEnd) {
        self.note(format_args!("{stream} {end:?}"));
    }

    fn cancelled(&mut self, stream: u32) {
        self.note(format_args!("{stream} cancelled"));
    }
}

/// Reads `data` as what a server sends: its first byte chooses the number of requests and whether
/// settings come first.
pub fn http2_client(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let bytes = if choice & 8 == 0 { [&EMPTY_SETTINGS, bytes].concat() } else { bytes.to_vec() };
    Cut::same_for_all(data, |cut| client(choice, &bytes, cut));
}

fn client(choice: u8, bytes: &[u8], cut: &mut Cut) -> (Transcript, Vec<u8>) {
    let (mut client, mut said) = (Client::new(Limits::default(), false), Transcript::default());
    let requests = u32::from(choice & 7);
    for tag in 0..requests {
        let text: &[u8] = match tag % 3 {
            0 => b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
            1 => b"HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n",
            _ => b"POST /a HTTP/1.1\r\nHost: a\r\n\r\nbody",
        };
        assert_eq!(client.request(tag, text, true), Ok(()), "valid text was rejected");
    }
    cut.feed(bytes, &mut said, |piece, said| client.read(piece, said));
    assert!(client.out().len() <= OUT_BYTES_MAX, "{} bytes are to be sent", client.out().len());
    let mut ended =
        said.events.lines().filter(|line| !line.contains(" head ") && !line.contains('=')).count();
    ended -= said.events.lines().filter(|line| line.starts_with("fault")).count();
    let out = std::mem::take(client.out());
    let mut cut_off = 0;
    client.cut(|_, _| cut_off += 1);
    assert_eq!(ended + cut_off, requests as usize, "every request ends once: {said:?}");
    (said, out)
}

/// Reads `data` as what a client sends: its first byte chooses whether preface and settings come
/// first.
pub fn http2_server(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let bytes = if choice & 8 == 0 { [PREFACE, &EMPTY_SETTINGS, bytes].concat() } else { bytes.to_vec() };
    Cut::same_for_all(data, |cut| server(&bytes, cut));
}

fn server(bytes: &[u8], cut: &mut Cut) -> (Transcript, Vec<u8>) {
    let (mut server, mut said) = (Server::new(Limits::default()), Transcript::default());
    cut.feed(bytes, &mut said, |piece, said| server.read(piece, said));
    assert!(server.out().len() <= OUT_BYTES_MAX, "{} bytes are to be sent", server.out().len());
    let out = std::mem::take(server.out());
    (said, out)
}
