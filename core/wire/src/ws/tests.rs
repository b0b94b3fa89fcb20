//! Tests of both sides against each other, and of each fault at every split of the bytes.

use std::fmt::Write as _;

use super::*;

pub(super) const REQUEST: &[u8] =
    b"GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: chat, other\r\n\
Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover\r\n\r\n";

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Events {
    text: String,
    message: Vec<u8>,
    echoes: Vec<(MessageKind, Vec<u8>)>,
    kind: Option<MessageKind>,
}

impl MessageSink for Events {
    fn begin(&mut self, kind: MessageKind) {
        self.kind = Some(kind);
        write!(self.text, "{kind:?} ").unwrap();
    }

    fn piece(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        self.message.extend_from_slice(bytes);
    }

    fn end(&mut self, length: u64) {
        assert_eq!(length, self.message.len() as u64);
        let message = std::mem::take(&mut self.message);
        write!(self.text, "{};", message.escape_ascii()).unwrap();
        self.echoes.push((self.kind.take().unwrap(), message));
    }
}

impl ClientSink for Events {
    fn upgraded(&mut self, head: &crate::h1::ResponseHead<'_>) {
        assert!(head.raw.ends_with(b"\r\n\r\n") && head.status == 101);
        self.text.push_str("upgraded;");
    }

    fn refused(&mut self, head: &crate::h1::ResponseHead<'_>) {
        write!(self.text, "refused {};", head.status).unwrap();
    }

    fn closed(&mut self, code: CloseCode, reason: &[u8]) {
        write!(self.text, "closed {code} {};", reason.escape_ascii()).unwrap();
    }
}

impl ServerSink for Events {
    fn closed(&mut self, code: CloseCode) {
        write!(self.text, "closed {code};").unwrap();
    }
}

/// Feeds `bytes` to a new machine in pieces of `cut` bytes. Returns what happened and what it wants
/// to send.
fn client(start: fn() -> Client, bytes: &[u8], cut: usize) -> (String, Vec<u8>) {
    let (mut client, mut events) = (start(), Events::default());
    for piece in bytes.chunks(cut) {
        if let Err(fault) = client.read(piece, &mut events) {
            assert_eq!(client.read(piece, &mut events), Err(fault), "a fault is repeated");
            write!(events.text, "{fault:?}").unwrap();
            break;
        }
    }
    (events.text, std::mem::take(client.out()))
}

pub(super) fn open() -> Client {
    Client::resume(Limits { message_bytes_max: 1_000, fragments_max: 4, head_bytes_max: 500 }, 7)
}

pub(super) fn upgrading() -> Client {
    let mut client = Client::new(Limits { head_bytes_max: 500, ..Limits::default() }, 7);
    client.connect(REQUEST);
    client.out().clear();
    client
}

/// Checks what a client makes of `bytes`, in one piece and at every smaller size of pieces.
#[track_caller]
pub(super) fn check(start: fn() -> Client, bytes: &[u8], wanted: &str) {
    let whole = client(start, bytes, usize::MAX);
    assert_eq!(whole.0, wanted, "{}", bytes.escape_ascii());
    for cut in 1..bytes.len().min(200) {
        assert_eq!(client(start, bytes, cut), whole, "{} in pieces of {cut}", bytes.escape_ascii());
    }
}

#[test]
fn frames_of_a_server() {
    for (bytes, wanted) in [
        (&b"\x81\x05hello"[..], "Text hello;"),
        (b"\x82\x00", "Binary ;"),
        (b"\x01\x03hel\x80\x02lo", "Text hello;"),
        (b"\x01\x01a\x89\x01p\x80\x01b\x81\x01c", "Text ab;Text c;"),
        (b"\x8a\x00\x8a\x02xx\x81\x01a", "Text a;"),
        (b"\x81\x03\xe2\x82\xac", "Text \\xe2\\x82\\xac;"),
        (b"\x01\x01\xe2\x00\x01\x82\x80\x01\xac", "Text \\xe2\\x82\\xac;"),
        (b"\x88\x00", "closed 1005 no code ;"),
        (b"\x88\x05\x03\xe9bye\x81\x01a", "closed 1001 going away bye;"),
        (b"\xc1\x01a", "ReservedBit"),
        (b"\xa1\x01a", "ReservedBit"),
        (b"\x83\x00", "ReservedOpcode"),
        (b"\x8b\x00", "ReservedOpcode"),
        (b"\x81\x81\x00\x00\x00\x00a", "Masking"),
        (b"\x81\x7e\x00\x05hello", "BadLength"),
        (b"\x81\x7f\x00\x00\x00\x00\x00\x00\xff\xff", "BadLength"),
        (b"\x81\x7f\x80\x00\x00\x00\x00\x00\x00\x00", "BadLength"),
        (b"\x09\x00", "BadControl"),
        (b"\x89\x7e\x00\x7e", "BadControl"),
        (b"\x80\x01a", "Fragmentation"),
        (b"\x01\x01a\x81\x01b", "Text Fragmentation"),
        (b"\x88\x01\x03", "BadClose"),
        (b"\x88\x02\x03\xed", "BadClose"),
        (b"\x88\x02\x00\x00", "BadClose"),
        (b"\x88\x03\x03\xe8\xff", "NotUtf8"),
        (b"\x81\x02\xc3(", "Text NotUtf8"),
        (b"\x81\x01\xc3", "Text NotUtf8"),
        (b"\x01\x01\xc3\x80\x01a", "Text NotUtf8"),
        (b"\x81\x03\xed\xa0\x80", "Text NotUtf8"),
        (b"\x82\x7e\x03\xe9", "MessageTooLarge"),
        (b"\x02\x01a\x00\x01b\x00\x01c\x00\x01d\x80\x00", "Binary TooManyFragments"),
    ] {
        check(open, bytes, wanted);
    }
}

#[test]
fn faults_are_answered_with_their_code() {
    let code = |bytes: &[u8]| {
        let (_, mut out) = client(open, bytes, usize::MAX);
        assert_eq!(out[..2], [0x88, 0x82], "{out:?}");
        let mask = [out[2], out[3], out[4], out[5]];
        frame::apply_mask(&mut out[6..], mask, 0);
        u16::from_be_bytes([out[6], out[7]])
    };
    assert_eq!(code(b"\x83\x00"), 1002);
    assert_eq!(code(b"\x81\x01\xff"), 1007);
    assert_eq!(code(b"\x82\x7e\x03\xe9"), 1009);
    assert_eq!(code(b"\x88\x02\x03\xe9"), 1001, "a Close frame is answered with its code");
}

#[test]
fn responses_to_an_upgrade() {
    let accept = {
        let mut client = Client::new(Limits::default(), 7);
        client.connect(REQUEST);
        let sent = String::from_utf8(client.out().clone()).unwrap();
        assert!(sent.ends_with("==\r\n\r\n") && sent.matches("\r\n\r\n").count() == 1, "{sent}");
        accept_key(sent.split("Sec-WebSocket-Key: ").nth(1).unwrap().trim_end().as_bytes())
    };
    let reply = |more: &str| {
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n{more}\r\n"
        )
    };
    let ok = |more: &str, wanted: &str| check(upgrading, reply(more).as_bytes(), wanted);
    ok("", "upgraded;");
    ok("Sec-WebSocket-Protocol: chat\r\n", "upgraded;");
    ok("Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=12\r\n", "upgraded;");
    ok("X-Long: a\r\n b\r\nSec-WebSocket-Protocol:\r\n\tcha\r\n", "WrongSubprotocol");
    ok("X-Long: a\r\n b\r\nSec-WebSocket-Protocol:\r\n\tchat\r\n", "upgraded;");
    ok("Sec-WebSocket-Protocol: cha\r\n", "WrongSubprotocol");
    ok("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=9\r\n", "WrongExtension");
    ok("Sec-WebSocket-Extensions: x-webkit-deflate-frame\r\n", "WrongExtension");
    ok("Sec-WebSocket-Extensions: permessage-deflate, permessage-deflate\r\n", "WrongExtension");
    check(upgrading, &[reply("").as_bytes(), b"\x81\x02hi"].concat(), "upgraded;Text hi;");
    let early = [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", reply("").as_bytes()].concat();
    check(upgrading, &early, "upgraded;");
    let folded = reply("").replace("Accept: ", "Accept:\r\n ");
    check(upgrading, folded.as_bytes(), "upgraded;");
    check(upgrading, reply("").replace(&accept, "x").as_bytes(), "WrongAccept");
    check(upgrading, reply("").replace("WebSocket", "h2c").as_bytes(), "NoUpgrade");
    check(upgrading, b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", "refused 404;");
    check(upgrading, b"SSH-2.0-OpenSSH_9.2\r\n", "NotHttp");
    check(upgrading, b"HTTP/1.1 1x1 Odd\r\n\r\n", "NotHttp");
    check(upgrading, &[&b"HTTP/1.1 200 OK\r\nA: "[..], &[b'a'; 600]].concat(), "HeadTooLarge");
}

#[test]
fn the_example_of_the_specification() {
    // RFC 6455 §1.3.
    assert_eq!(accept_key(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    // RFC 7692 §7.2.3.1, and §7.2.3.2 with the peer's context.
    let mut reader = message_reader::MessageReader::new(Limits::default(), false);
    reader.set_deflate(true);
    let mut events = Events::default();
    for bytes in [&b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00"[..], b"\xc1\x05\xf2\x00\x11\x00\x00"] {
        assert_eq!(reader.read(bytes, &mut events).unwrap().0, bytes.len());
    }
    // §7.2.3.4: a block with BFINAL.
    reader.set_deflate(false);
    reader.read(b"\xc1\x08\xf3\x48\xcd\xc9\xc9\x07\x00\x00", &mut events).unwrap();
    assert_eq!(events.text, "Text Hello;Text Hello;Text Hello;");
}

/// Reads the upgrade in a request.
struct Head(Option<Upgrade>);
impl crate::h1::RequestSink for Head {
    fn head(&mut self, head: &crate::h1::RequestHead<'_>) {
        self.0 = Upgrade::from_request(head);
    }
}

/// Returns the upgrade in a request.
pub(super) fn upgrade_of(request: &[u8]) -> Option<Upgrade> {
    let mut head = Head(None);
    crate::h1::RequestReader::new(crate::h1::Limits::default()).read(request, &mut head).unwrap();
    head.0
}

/// Upgrades a connection of a client to a server, echoes `messages` in pieces of `cut` bytes, and
/// returns them as the client received them.
fn echo(messages: &[(MessageKind, Vec<u8>)], deflate: bool, cut: usize) -> Vec<(MessageKind, Vec<u8>)> {
    let mut client = Client::new(Limits::default(), 3);
    client.connect(REQUEST);
    let (mut heard, mut deflater) = (Events::default(), None);
    let upgrade = upgrade_of(&std::mem::take(client.out())).expect("an upgrade");
    let mut response = Vec::new();
    upgrade.write_response(deflate, &mut response);
    client.read(&response, &mut heard).unwrap();
    let mut server = Server::new(Limits::default(), deflate);
    for (kind, message) in messages {
        client.send(*kind, message, &mut deflater);
        let mut asked = Events::default();
        for piece in std::mem::take(client.out()).chunks(cut) {
            server.read(piece, &mut asked).unwrap();
        }
        for (kind, message) in asked.echoes {
            server.send(kind, &message, &mut deflater);
        }
        for piece in std::mem::take(server.out()).chunks(cut) {
            client.read(piece, &mut heard).unwrap();
        }
    }
    client.close(CloseCode::NORMAL);
    let mut asked = Events::default();
    server.read(&std::mem::take(client.out()), &mut asked).unwrap();
    assert!(server.is_over() && asked.text == "closed 1000 normal closure;", "{}", asked.text);
    client.read(&std::mem::take(server.out()), &mut heard).unwrap();
    assert!(heard.text.ends_with("closed 1000 normal closure ;"), "{}", heard.text);
    heard.echoes
}

#[test]
fn messages_come_back_as_they_were() {
    let text = |length: usize| "aé€😀x".chars().cycle().take(length).collect::<String>().into_bytes();
    let mut messages = Vec::new();
    for length in [0, 1, 2, 50, 125, 126, 127, 4_095, 4_096, 4_097, 20_000, 70_000] {
        messages.push((MessageKind::Text, text(length)));
        messages.push((MessageKind::Binary, (0..length).map(|at| (at * at) as u8).collect()));
    }
    for deflate in [false, true] {
        for cut in [1, 2, 3, 7, 4_096, usize::MAX] {
            assert_eq!(echo(&messages, deflate, cut), messages, "deflate {deflate}, pieces of {cut}");
        }
    }
}

#[test]
fn a_bomb_ends_at_the_limit() {
    let mut server = Server::new(Limits::default(), true);
    server.send(MessageKind::Binary, &vec![0; 2_000], &mut None);
    let mut reader =
        message_reader::MessageReader::new(Limits { message_bytes_max: 1_999, ..Limits::default() }, false);
    reader.set_deflate(false);
    let bomb = server.out().clone();
    assert!(bomb.len() < 100, "{} bytes", bomb.len());
    assert_eq!(reader.read(&bomb, &mut Events::default()).unwrap_err(), Fault::MessageTooLarge);
}

#[test]
fn broken_compression_is_a_fault() {
    let mut reader = message_reader::MessageReader::new(Limits::default(), false);
    reader.set_deflate(false);
    let fault = reader.read(b"\xc1\x03\xff\xff\xff", &mut Events::default()).unwrap_err();
    assert_eq!(fault, Fault::NotDeflate);
}
