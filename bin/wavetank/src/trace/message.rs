//! Requests and answers as they may be shown: lines, and the beginning of a body if it is text.

use wavetank_engine::FullResponse;
use wavetank_grpc::MessageError;
use wavetank_journey::GrpcCodec;
use wavetank_journey::content::decode_body;
use wavetank_journey::extract::ResponseView;
use wavetank_plan::UrlProtocol;
use wavetank_record::{TryBody, TryMessage};
use wavetank_units::{Nanos, status_text};
use wavetank_wire::messages::Operation;
use wavetank_wire::ws::{CloseCode, MessageKind};

use super::SecretScrubber;

/// Bytes of a body that are kept at most. A terminal shows fewer of them.
const SHOWN_BYTES_MAX: usize = 64 << 10;

/// A request; `of_step` are names of headers that its step hides.
pub(super) fn request(
    bytes: &[u8],
    secrets: &SecretScrubber,
    of_step: &[String],
    call: Option<&GrpcCodec>,
) -> TryMessage {
    let head_end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    let (head, body) = bytes.split_at(head_end);
    let (line, headers) = lines(head, secrets, of_step);
    let messages = call.and_then(|call| messages(body, |out| call.decode_request(body, out)));
    let plain = || of_body(body, None, body.len() as u64);
    let body = (!body.is_empty()).then(|| messages.unwrap_or_else(plain));
    TryMessage { line, headers, trailers: Vec::new(), body }
}

/// Describes what a step does on a connection with messages.
pub(super) fn operation(bytes: &[u8], protocol: UrlProtocol, call: Option<&GrpcCodec>) -> TryMessage {
    let (one, kind) = match protocol {
        UrlProtocol::Events => ("event", "event stream"),
        UrlProtocol::Tcp => ("answer", "TCP"),
        UrlProtocol::Udp => ("datagram", "UDP"),
        UrlProtocol::Grpc => ("message", "gRPC"),
        _ => ("WebSocket message", "WebSocket"),
    };
    let (line, payload) = match Operation::parse(bytes) {
        Operation::Send(..) | Operation::Post(..) | Operation::Ask(..) if protocol.is_bare() => {
            let what = if protocol == UrlProtocol::Udp { "UDP datagram" } else { "TCP bytes" };
            (what.to_owned(), payload(bytes))
        }
        Operation::Send(_, frames) | Operation::Post(_, frames) if protocol == UrlProtocol::Grpc => {
            ("gRPC message".to_owned(), frames)
        }
        Operation::Close(_) if protocol == UrlProtocol::Grpc => ("gRPC end".to_owned(), &b""[..]),
        Operation::Send(MessageKind::Text, text) | Operation::Post(MessageKind::Text, text) => {
            ("WebSocket text message".to_owned(), text)
        }
        Operation::Send(MessageKind::Binary, data) | Operation::Post(MessageKind::Binary, data) => {
            ("WebSocket binary message".to_owned(), data)
        }
        Operation::Wait | Operation::Read(_) => (format!("wait for {} {one}", article(one)), &b""[..]),
        Operation::WaitOn => (format!("wait for the next {one}"), &b""[..]),
        Operation::Close(code) => {
            (format!("{kind} close {}", String::from_utf8_lossy(code)).trim_end().to_owned(), &b""[..])
        }
        Operation::Connect(_) if protocol == UrlProtocol::Tcp => ("TCP connect".to_owned(), &b""[..]),
        Operation::Ask(_, data) => (format!("{kind} bytes"), data),
        Operation::Connect(_) | Operation::Open(_) => (String::new(), bytes),
    };
    let messages = call.and_then(|call| messages(payload, |out| call.decode_request(payload, out)));
    let plain = || of_body(payload, None, payload.len() as u64);
    let body = (!payload.is_empty()).then(|| messages.unwrap_or_else(plain));
    TryMessage { line, headers: Vec::new(), trailers: Vec::new(), body }
}

fn payload(bytes: &[u8]) -> &[u8] {
    match Operation::parse(bytes) {
        Operation::Send(_, data) | Operation::Post(_, data) | Operation::Ask(_, data) => data,
        _ => b"",
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// Describes the answer to a step with messages: a message, or the end of the connection. `code` is
/// that of a Close frame.
pub(super) fn message_answer(
    protocol: UrlProtocol,
    answer: &FullResponse<'_>,
    secrets: &SecretScrubber,
) -> TryMessage {
    let &FullResponse { status: code, head, trailers, body, body_bytes, call, .. } = answer;
    let line = match (protocol, code) {
        (UrlProtocol::Events, _) if trailers.is_empty() => "event stream closed",
        (UrlProtocol::Events, _) => "event",
        (UrlProtocol::Tcp, _) if body_bytes == 0 => "TCP done",
        (UrlProtocol::Tcp, _) => "TCP bytes",
        (UrlProtocol::Udp, _) if body_bytes == 0 => "UDP done",
        (UrlProtocol::Udp, _) => "UDP datagram",
        (UrlProtocol::Grpc, _) if head.is_empty() && trailers.is_empty() => "gRPC message",
        (UrlProtocol::Grpc, code) => &format!("gRPC status {}", status_text(code)),
        (_, 0) => "WebSocket message",
        (_, code) => &format!("WebSocket close {}", CloseCode(code)),
    };
    let (headers, trailers) = match protocol {
        UrlProtocol::Grpc => (fields(head, Some(secrets)), fields(trailers, Some(secrets))),
        _ => (fields(trailers, None), Vec::new()),
    };
    let messages = call.and_then(|call| messages(body, |out| call.decode(body, out)));
    let body = (body_bytes > 0).then(|| messages.unwrap_or_else(|| of_body(body, None, body_bytes)));
    TryMessage { line: line.to_owned(), headers, trailers, body }
}

/// The lines of fields without a first line; `secrets` of headers are hidden.
fn fields(lines: &[u8], secrets: Option<&SecretScrubber>) -> Vec<String> {
    let text = String::from_utf8_lossy(lines);
    let shown = |line: &str| secrets.map_or_else(|| line.to_owned(), |hide| hide.header_line(line, &[]));
    text.lines().filter(|line| !line.is_empty()).map(shown).collect()
}

/// Describes a response.
pub(super) fn answer(answer: &FullResponse<'_>, secrets: &SecretScrubber) -> TryMessage {
    let &FullResponse { head, trailers, body, body_bytes, call, .. } = answer;
    let (line, headers) = lines(head, secrets, &[]);
    let trailers = fields(trailers, Some(secrets));
    if body_bytes == 0 {
        return TryMessage { line, headers, trailers, body: None };
    }
    if let Some(body) = call.and_then(|call| messages(body, |out| call.decode(body, out))) {
        return TryMessage { line, headers, trailers, body: Some(body) };
    }
    let fields_at = head.iter().position(|&byte| byte == b'\n').map_or(head.len(), |at| at + 1);
    let fields = &head[fields_at..];
    let coded = ResponseView { status: 0, time: Nanos::ZERO, size: 0, fields, body, jar: None };
    let coding = coded.headers("content-encoding").next();
    let coding = coding.map(|coding| String::from_utf8_lossy(coding).trim().to_owned());
    let coding = coding.filter(|coding| !coding.eq_ignore_ascii_case("identity"));
    let mut buffer = Vec::new();
    let body = match decode_body(&coded, &mut buffer) {
        Ok(plain) => of_body(plain, coding, body_bytes),
        // What cannot be decoded is no text.
        Err(_) => TryBody { bytes: body_bytes, coding, text: None, cut: false },
    };
    TryMessage { line, headers, trailers, body: Some(body) }
}

/// Returns the messages of a gRPC body as JSON, which `decode` writes; `None`: the body has no
/// whole messages.
fn messages(
    body: &[u8],
    decode: impl FnOnce(&mut Vec<u8>) -> Result<usize, MessageError>,
) -> Option<TryBody> {
    let mut json = Vec::new();
    decode(&mut json).ok()?;
    Some(of_body(&json, Some("grpc".to_owned()), body.len() as u64))
}

fn of_body(plain: &[u8], coding: Option<String>, bytes: u64) -> TryBody {
    let shown = &plain[..plain.len().min(SHOWN_BYTES_MAX)];
    let whole = shown.len() == plain.len() && (coding.is_some() || plain.len() as u64 == bytes);
    let text = text_of(shown, whole);
    let cut = text.is_some() && !whole;
    TryBody { bytes, coding, text, cut }
}

/// The bytes as text, if they are; of a beginning the last character may be cut.
fn text_of(bytes: &[u8], whole: bool) -> Option<String> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if !whole && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    (!text.contains(odd)).then(|| text.to_owned())
}

/// First line and field lines of a head, secrets hidden.
fn lines(head: &[u8], secrets: &SecretScrubber, of_step: &[String]) -> (String, Vec<String>) {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split('\n').map(|line| line.trim_end_matches('\r'));
    let first = lines.next().unwrap_or_default().to_owned();
    let fields = lines.take_while(|line| !line.is_empty());
    (first, fields.map(|line| secrets.header_line(line, of_step)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_apart() {
        let bytes = b"POST / HTTP/1.1\r\nHost: a\r\nCookie: b=c\r\nContent-Length: 2\r\n\r\nhi";
        let shown = request(bytes, &SecretScrubber::default(), &[], None);
        assert_eq!(shown.line, "POST / HTTP/1.1");
        assert_eq!(shown.headers, ["Host: a", "Cookie: ***", "Content-Length: 2"]);
        assert_eq!(shown.body.map(|body| (body.bytes, body.text)), Some((2, Some("hi".to_owned()))));
        assert_eq!(
            request(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", &SecretScrubber::default(), &[], None).body,
            None
        );
    }

    fn answered(head: &[u8], body: &[u8], body_bytes: u64) -> TryMessage {
        let (sent, first_byte, complete) = (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO);
        let (trailers, call) = (&b""[..], None);
        let response =
            FullResponse { status: 200, head, trailers, body, body_bytes, sent, first_byte, complete, call };
        answer(&response, &SecretScrubber::default())
    }

    #[test]
    fn a_body_is_shown_where_it_is_text() {
        let check = |body: &[u8], bytes: usize, text: Option<usize>, cut: bool| {
            let shown = answered(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", body, bytes as u64);
            let body = shown.body.expect("a body");
            assert_eq!((body.text.map(|text| text.len()), body.cut), (text, cut));
        };
        check(b"hello\n", 6, Some(6), false);
        check(&[0, 159, 146], 3, None, false);
        check(b"a\x1b[2J", 5, None, false);
        check(&vec![b'a'; 70_000], 70_000, Some(65_536), true);
        check(&[b'a'; 100], 5_000, Some(100), true);
        // The euro sign has three bytes, and 65,536 is no multiple of them.
        check(&"\u{20ac}".repeat(30_000).into_bytes(), 90_000, Some(65_535), true);
    }

    #[test]
    fn codings_are_taken_off() {
        // `printf hello | gzip -n`
        let gzip =
            [31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0];
        let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
        let body = answered(head, &gzip, gzip.len() as u64).body.expect("a body");
        assert_eq!((body.text.as_deref(), body.coding.as_deref()), (Some("hello"), Some("gzip")));
        let body = answered(head, b"no gzip", 7).body.expect("a body");
        assert_eq!((body.text, body.cut), (None, false));
    }
}
