//! Property tests: a written message can be read with any cuts, and no input does harm.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use wavetank_wire::fuzzing;
use wavetank_wire::h1::{
    Eof, Limits, RequestHead, RequestParts, RequestReader, RequestSink, ResponseEnd, ResponseHead,
    ResponseParts, ResponseReader, ResponseSink, Version, render_request, render_response_head,
};

type Fields = Vec<(String, String)>;

/// Everything a message holds, as a sink collects it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Kept {
    start: String,
    fields: Fields,
    body: Vec<u8>,
}

impl Kept {
    fn fields<'a>(&mut self, fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        self.fields = fields.map(|(name, value)| (text(name), text(value))).collect();
    }
}

impl ResponseSink for Kept {
    fn head(&mut self, head: &ResponseHead<'_>) {
        self.start = format!("{} {}", head.status, head.reason.escape_ascii());
        self.fields(head.headers());
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

impl RequestSink for Kept {
    fn head(&mut self, head: &RequestHead<'_>) {
        self.start = format!("{} {}", head.method.escape_ascii(), head.target.escape_ascii());
        self.fields(head.headers());
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

fn fields() -> impl Strategy<Value = Fields> {
    // The prefix keeps names apart from those that have a meaning for the readers.
    let value = "([!-~]([ -~\t]{0,40}[!-~])?)?";
    prop::collection::vec(("X-[A-Za-z0-9!#$%&'*+.^_`|~-]{1,20}", value), 0..12)
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..200)
}

fn borrow(fields: &Fields) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Cuts at positions that need not be sorted or distinct. Empty pieces stay in, because readers
/// must handle them.
fn cut<'a>(bytes: &'a [u8], places: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<_> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    places.sort_unstable();
    let ends = places.iter().copied().chain([bytes.len()]);
    ends.scan(0, |from, to| Some(&bytes[std::mem::replace(from, to)..to])).collect()
}

/// Returns chunks of lengths drawn from `sizes`, with optional syntax around them.
fn chunked(body: &[u8], sizes: &[usize]) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut rest, mut turn) = (body, 0);
    while !rest.is_empty() {
        let size = sizes.get(turn % sizes.len().max(1)).map_or(7, |size| size % 50 + 1).min(rest.len());
        let extension = ["", ";a", " ; a=\"b\\\"\"", ";c=d"][turn % 4];
        out.extend_from_slice(format!("{size:0width$x}{extension}\r\n", width = turn % 3 + 1).as_bytes());
        out.extend_from_slice(&rest[..size]);
        out.extend_from_slice(b"\r\n");
        (rest, turn) = (&rest[size..], turn + 1);
    }
    out.extend_from_slice(if sizes.len().is_multiple_of(2) {
        b"0\r\n\r\n"
    } else {
        b"0;z\r\nX-T: u\r\n\r\n"
    });
    out
}

/// Reads one response and returns what is left of the input.
fn read_answer(pieces: &[&[u8]]) -> (Kept, ResponseEnd, usize) {
    let (mut kept, mut answer, mut surplus) = (Kept::default(), None, 0);
    let mut reader = ResponseReader::new(Limits::default());
    reader.expect(false);
    for piece in pieces {
        let progress = reader.read(piece, &mut kept).unwrap();
        surplus += piece.len() - progress.consumed;
        answer = answer.or(progress.answer);
    }
    match reader.eof() {
        Eof::Idle => (kept, answer.unwrap(), surplus),
        Eof::Complete(answer) => (kept, answer, surplus),
        Eof::Early { .. } => panic!("the answer is not complete"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_written_answer_is_read(
        status in select(vec![200u16, 201, 206, 302, 404, 418, 500, 599, 777]),
        fields in fields(),
        body in bytes(),
        framing in 0..3,
        sizes in prop::collection::vec(any::<usize>(), 0..6),
        places in prop::collection::vec(any::<Index>(), 0..8),
    ) {
        let mut written = format!("HTTP/1.1 {status} Some Reason\r\n").into_bytes();
        for (name, value) in &fields {
            written.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        let surplus = if framing == 2 { &b""[..] } else { b"surplus" };
        match framing {
            0 => written.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes()),
            1 => written.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n"),
            _ => written.extend_from_slice(b"\r\n"),
        }
        let head_bytes = written.len();
        written.extend_from_slice(&if framing == 1 { chunked(&body, &sizes) } else { body.clone() });
        written.extend_from_slice(surplus);

        let (kept, answer, left) = read_answer(&cut(&written, &places));
        prop_assert_eq!(kept.start, format!("{status} Some Reason"));
        prop_assert_eq!(&kept.fields[..fields.len()], &fields[..]);
        prop_assert_eq!(answer.body_bytes, body.len() as u64);
        prop_assert_eq!(kept.body, body);
        prop_assert_eq!((answer.status, answer.head_bytes as usize), (status, head_bytes));
        prop_assert_eq!(answer.keep_alive, framing != 2);
        prop_assert_eq!(left, surplus.len());
    }

    #[test]
    fn a_rendered_request_is_read(
        method in select(vec!["GET", "POST", "PUT", "DELETE", "PATCH", "QUERY"]),
        target in "/[!-~]{0,30}",
        host in "[a-z0-9.]{1,20}(:[0-9]{2,5})?",
        (http_10, keep_alive, coded) in any::<(bool, bool, bool)>(),
        mut fields in fields(),
        body in bytes(),
        places in prop::collection::vec(any::<Index>(), 0..8),
    ) {
        if coded && !http_10 {
            fields.push(("transfer-encoding".to_owned(), "gzip, Chunked".to_owned()));
        }
        let headers = borrow(&fields);
        let written = render_request(&RequestParts {
            method,
            target: &target,
            version: if http_10 { Version::Http10 } else { Version::Http11 },
            host: &host,
            keep_alive,
            headers: &headers,
            body: &body,
        });

        let (mut kept, mut end) = (Kept::default(), None);
        let mut reader = RequestReader::new(Limits::default());
        for piece in cut(&written, &places) {
            let progress = reader.read(piece, &mut kept).unwrap();
            prop_assert_eq!(progress.consumed, piece.len());
            end = end.or(progress.request);
        }
        let end = end.expect("a whole request");
        prop_assert_eq!(kept.start, format!("{method} {}", target.as_bytes().escape_ascii()));
        prop_assert_eq!(&kept.fields[0], &("Host".to_owned(), host.clone()));
        prop_assert_eq!(&kept.fields[1..=fields.len()], &fields[..]);
        prop_assert_eq!(kept.body, body);
        prop_assert_eq!((end.keep_alive, end.http_10), (keep_alive, http_10));
    }

    #[test]
    fn a_rendered_head_is_read(
        status in 200u16..1_000,
        (http_10, keep_alive) in any::<(bool, bool)>(),
        fields in fields(),
        body in bytes(),
    ) {
        let headers: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let content_length = Some(body.len() as u64);
        let mut written = Vec::new();
        render_response_head(
            &mut written,
            &ResponseParts { status, http_10, keep_alive, content_length, headers: &headers },
        );
        let bodiless = status == 204 || status == 304;
        if !bodiless {
            written.extend_from_slice(&body);
        }
        let (kept, answer, left) = read_answer(&[&written]);
        prop_assert_eq!((answer.status, answer.keep_alive, left), (status, keep_alive, 0));
        prop_assert_eq!(&kept.fields[..fields.len()], &fields[..]);
        prop_assert_eq!(kept.body, if bodiless { Vec::new() } else { body });
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzzing::response(&bytes);
        fuzzing::request(&bytes);
    }

    /// Random bytes never get past the first line; these pieces do.
    #[test]
    fn any_pieces_of_http_do_no_harm(
        choice in any::<u8>(),
        pieces in prop::collection::vec(select(PIECES.to_vec()), 0..40),
    ) {
        let bytes = [&[choice], &pieces.concat()[..]].concat();
        fuzzing::response(&bytes);
        fuzzing::request(&bytes);
    }
}

const PIECES: &[&[u8]] = &[
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.0 404 No\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 ",
    b"204",
    b"GET / HTTP/1.1\r\nHost: x\r\n",
    b"POST /a HTTP/1.0\r\n",
    b"Host: x\r\n",
    b"\r\n",
    b"\n",
    b"\r",
    b" ",
    b"\t",
    b"Content-Length: 3\r\n",
    b"Content-Length: ",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip\r\n",
    b"Connection: close\r\n",
    b"Connection: keep-alive\r\n",
    b"3",
    b"0",
    b"ffffffffffffffff",
    b";a=b",
    b";a=\"b\\",
    b"abc",
    b"3\r\nabc\r\n",
    b"0\r\n\r\n",
    b"0\r\nA: b\r\n\r\n",
    b":",
    b",",
    b"\0",
    b"\x7f",
    b"\xff",
    b"\"",
];
