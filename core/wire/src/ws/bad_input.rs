//! What a client does with each kind of bad input: RFC 6455 and RFC 7692, section by section.

use super::tests::{Events, REQUEST, check, open, upgrade_of, upgrading};
use super::{Client, Limits, accept_key};

/// The response to the upgrade of [`upgrading`], with these fields before the empty line.
pub(super) fn reply(more: &str) -> String {
    let mut client = Client::new(Limits::default(), 7);
    client.connect(REQUEST);
    let sent = String::from_utf8(client.out().clone()).unwrap();
    let accept = accept_key(sent.split("Sec-WebSocket-Key: ").nth(1).unwrap().trim_end().as_bytes());
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n{more}\r\n"
    )
}

/// A client that has agreed on compression.
fn deflating() -> Client {
    let limits = Limits { message_bytes_max: 1_000, fragments_max: 4, head_bytes_max: 500 };
    let mut client = Client::new(limits, 7);
    client.connect(REQUEST);
    client.out().clear();
    let response = reply("Sec-WebSocket-Extensions: permessage-deflate\r\n");
    client.read(response.as_bytes(), &mut Events::default()).unwrap();
    client
}

#[track_caller]
fn frames(bytes: &[u8], expected: &str) {
    check(open, bytes, expected);
}

/// §4.1, §4.2.2, §11.3
#[test]
fn upgrades() {
    let upgrade = |more: &str, expected: &str| check(upgrading, reply(more).as_bytes(), expected);
    upgrade("Sec-WebSocket-Protocol: other\r\n", "upgraded;");
    for wrong in ["Chat", "chat, other", "", "chat\r\nSec-WebSocket-Protocol: other"] {
        upgrade(&format!("Sec-WebSocket-Protocol: {wrong}\r\n"), "WrongSubprotocol");
    }
    upgrade("Sec-WebSocket-Accept: x\r\n", "WrongAccept");
    let swapped = |from: &str, to: &str, expected: &str| {
        check(upgrading, reply("").replace(from, to).as_bytes(), expected);
    };
    swapped("Sec-WebSocket-Accept", "X-Accept", "WrongAccept");
    swapped("HTTP/1.1", "HTTP/1.0", "NoUpgrade");
    swapped("Upgrade: websocket", "Upgrade: h2c, websocket2", "NoUpgrade");
    swapped("Upgrade: websocket", "X-Upgrade: websocket", "NoUpgrade");
    swapped("Connection: Upgrade", "Connection: keep-alive", "NoUpgrade");
    swapped("HTTP/1.1", "HTTP/2", "NotHttp");
    swapped("HTTP/1.1", "\r\nHTTP/1.1", "NotHttp");
    swapped("HTTP/1.1 101", "HTTP/1.1 10", "NotHttp");
    swapped("HTTP/1.1 101", "HTTP/1.1  101", "NotHttp");
    // Other protocols: settings of HTTP/2, an alert of TLS, HTTP/0.9.
    check(upgrading, b"\0\0\0\x04\0\0\0\0\0", "NotHttp");
    check(upgrading, b"\x15\x03\x01\0\x02\x02\x46", "NotHttp");
    check(upgrading, b"<html>no</html>", "NotHttp");
    // Interim responses without end.
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    check(upgrading, format!("{}{}", hints.repeat(16), reply("")).as_bytes(), "upgraded;");
    check(upgrading, hints.repeat(17).as_bytes(), "TooManyInterim");
    // A head without end.
    check(upgrading, format!("HTTP/1.1 101 \r\n{}", "A: b\r\n".repeat(100)).as_bytes(), "HeadTooLarge");
}

/// §9.1, RFC 7692 §5.1, §7.1
#[test]
fn extensions() {
    let agreed = |parameters: &str, expected: &str| {
        let more = format!("Sec-WebSocket-Extensions: permessage-deflate{parameters}\r\n");
        check(upgrading, reply(&more).as_bytes(), expected);
    };
    for fine in
        ["", "; server_no_context_takeover; client_no_context_takeover", "; server_max_window_bits=\"8\""]
    {
        agreed(fine, "upgraded;");
    }
    for wrong in [
        "; server_no_context_takeover=1",
        "; client_no_context_takeover; client_no_context_takeover",
        "; server_max_window_bits",
        "; server_max_window_bits=7",
        "; server_max_window_bits=16",
        "; server_max_window_bits=08",
        "; server_max_window_bits=10; server_max_window_bits=10",
        "; client_max_window_bits=15",
        "; mux",
        ", x-webkit-deflate-frame",
        "\r\nSec-WebSocket-Extensions: permessage-deflate",
    ] {
        agreed(wrong, "WrongExtension");
    }
    // None was offered.
    let plain: fn() -> Client = || {
        let mut client = Client::new(Limits::default(), 7);
        client.connect(b"GET /chat HTTP/1.1\r\nHost: a\r\n\r\n");
        client.out().clear();
        client
    };
    let response = reply("Sec-WebSocket-Extensions: permessage-deflate\r\n");
    check(plain, response.as_bytes(), "WrongExtension");
    check(plain, reply("Sec-WebSocket-Protocol: chat\r\n").as_bytes(), "WrongSubprotocol");
}

/// RFC 7692 §5, §7.1: an offer with a parameter that is unknown, repeated or has a wrong value is
/// declined; another one may follow.
#[test]
fn offers() {
    let accepts = |offer: &str| {
        let request = String::from_utf8(REQUEST.to_vec()).unwrap();
        let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: ";
        let (head, _) = request.split_once("Sec-WebSocket-Extensions: ").unwrap();
        upgrade_of(format!("{head}{key}{offer}\r\n\r\n").as_bytes()).expect("an upgrade").deflate
    };
    for fine in [
        "permessage-deflate",
        "permessage-deflate; client_max_window_bits",
        "permessage-deflate; client_max_window_bits=8; server_no_context_takeover",
        "permessage-deflate; client_max_window_bits=\"15\"; client_no_context_takeover",
        "x-webkit-deflate-frame, permessage-deflate; server_max_window_bits=9, permessage-deflate",
    ] {
        assert!(accepts(fine), "{fine}");
    }
    for declined in [
        "x-webkit-deflate-frame",
        // Every message would need the smaller window.
        "permessage-deflate; server_max_window_bits=10",
        "permessage-deflate; mux",
        "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; client_no_context_takeover=true",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; client_max_window_bits; client_max_window_bits=9",
        "permessage-deflate; client_max_window_bits=7",
        "permessage-deflate; client_max_window_bits=16",
        "permessage-deflate; client_max_window_bits=09",
        "permessage-deflate; client_max_window_bits=",
    ] {
        assert!(!accepts(declined), "{declined}");
    }
}

/// §5.2
#[test]
fn headers() {
    for reserved in [0x10, 0x20, 0x40, 0x70] {
        for opcode in [0x81, 0x82, 0x88, 0x89, 0x8a, 0x01] {
            frames(&[opcode | reserved, 0], "ReservedBit");
        }
    }
    for opcode in (3..8).chain(11..16) {
        frames(&[0x80 | opcode, 0], "ReservedOpcode");
        frames(&[opcode, 0], "ReservedOpcode");
    }
    for length in [0_u16, 1, 125] {
        frames(&[&[0x82, 126][..], &length.to_be_bytes()].concat(), "BadLength");
    }
    for length in [0_u64, 126, 65_535, 1 << 63, u64::MAX] {
        frames(&[&[0x82, 127][..], &length.to_be_bytes()].concat(), "BadLength");
    }
    for length in [65_536_u64, (1 << 63) - 1] {
        frames(&[&[0x82, 127][..], &length.to_be_bytes()].concat(), "MessageTooLarge");
    }
    // §5.1: every kind of frame, masked.
    for opcode in [0x81, 0x82, 0x88, 0x89, 0x8a] {
        frames(&[opcode, 0x80, 1, 2, 3, 4], "Masking");
    }
}

/// §5.4
#[test]
fn fragments() {
    frames(b"\x00\x01a", "Fragmentation");
    frames(b"\x81\x01a\x80\x01b", "Text a;Fragmentation");
    frames(b"\x01\x01a\x02\x01b", "Text Fragmentation");
    frames(b"\x02\x01a\x82\x01b", "Binary Fragmentation");
    frames(b"\x01\x00\x80\x00\x80\x00", "Text ;Fragmentation");
    // A message may end with a Close frame inside it (§5.5.1); nothing of it is passed on.
    frames(b"\x01\x01a\x88\x02\x03\xe8", "Text closed 1000 normal closure ;");
    // Empty fragments without end, and a message that is longer with each of them.
    frames(&[&b"\x01\x00"[..], &[0; 20]].concat(), "Text TooManyFragments");
    let long = [&b"\x02\x7e\x01\x90"[..], &[b'x'; 400]].concat();
    let more = [&b"\x00\x7e\x01\x90"[..], &[b'x'; 400]].concat();
    frames(&[&long[..], &more, &more].concat(), "Binary MessageTooLarge");
}

/// §5.5
#[test]
fn control_frames() {
    for opcode in [8, 9, 10] {
        frames(&[opcode, 0], "BadControl");
        frames(&[0x80 | opcode, 126, 0, 126], "BadControl");
        frames(&[0x80 | opcode, 127, 0, 0, 0, 0, 0, 1, 0, 0], "BadControl");
        // Inside a message, and as a continuation.
        frames(&[1, 1, b'a', opcode, 0], "Text BadControl");
    }
    let longest = [&b"\x89\x7d"[..], &[b'p'; 125], b"\x81\x01a"].concat();
    frames(&longest, "Text a;");
}

/// §5.5.3: while the server does not read, only its last ping is answered.
#[test]
fn pings_without_end() {
    let mut client = open();
    client.hold_pongs(true);
    for number in 0..10_000_u16 {
        let ping = [&[0x89, 2][..], &number.to_be_bytes()].concat();
        client.read(&ping, &mut Events::default()).unwrap();
    }
    assert!(client.out().is_empty() && !client.is_idle());
    client.hold_pongs(false);
    let pong = std::mem::take(client.out());
    let payload: Vec<u8> = pong[6..].iter().zip(&pong[2..6]).map(|(byte, key)| byte ^ key).collect();
    assert_eq!((&pong[..2], &payload[..]), (&[0x8a, 0x82][..], &9_999_u16.to_be_bytes()[..]));
    client.hold_pongs(false);
    assert!(client.out().is_empty() && client.is_idle());
}

/// §7.1.5, §7.1.6, §7.4
#[test]
fn close_frames() {
    let close = |code: u16, reason: &[u8], expected: &str| {
        let payload = [&code.to_be_bytes()[..], reason].concat();
        frames(&[&[0x88, payload.len() as u8][..], &payload].concat(), expected);
    };
    for code in [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
        close(code, b"", "BadClose");
        close(code, b"why", "BadClose");
    }
    close(1014, b"", "closed 1014 bad gateway ;");
    close(3000, b"x", "closed 3000 x;");
    close(4999, b"", "closed 4999 ;");
    for reason in [&b"\xff"[..], b"a\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"ok\xc0\xaf"] {
        close(1000, reason, "NotUtf8");
    }
    for byte in [0, 3, 255] {
        frames(&[0x88, 1, byte], "BadClose");
    }
    // Whatever follows is not read (§5.5.1), and not answered twice.
    frames(b"\x88\x02\x03\xe8\x88\x02\x03\xe8\xff\xff", "closed 1000 normal closure ;");
}

/// §5.6, §8.1: as soon as it is certain.
#[test]
fn text() {
    for wrong in [
        &b"\x80"[..],
        b"a\xff",
        b"\xc0\xaf",
        b"\xc1\x81",
        b"\xe0\x80\xaf",
        b"\xed\xbf\xbf",
        b"\xf0\x80\x80\xaf",
        b"\xf4\x90\x80\x80",
        b"\xf5\x80\x80\x80",
        b"\xe2\x28\xa1",
    ] {
        let length = wrong.len() as u8;
        frames(&[&[0x81, length][..], wrong].concat(), "Text NotUtf8");
        // Announced to be longer: no more of it is awaited.
        frames(&[&[0x81, length + 9][..], wrong].concat(), "Text NotUtf8");
        // Every byte in a fragment of its own, with pings between them.
        if length <= 3 {
            let mut cut = vec![1, 0];
            for byte in wrong {
                cut.extend_from_slice(&[0x89, 0, 0, 1, *byte]);
            }
            frames(&cut, "Text NotUtf8");
        }
        // Bytes are not text.
        let binary = wrong.escape_ascii();
        frames(&[&[0x82, length][..], wrong].concat(), &format!("Binary {binary};"));
    }
    // The end is inside a character.
    for cut in [&b"\xc3"[..], b"\xe2\x82", b"\xf0\x9f\x98"] {
        frames(&[&[0x81, cut.len() as u8][..], cut].concat(), "Text NotUtf8");
        frames(&[&[1, cut.len() as u8][..], cut, &[0x80, 0]].concat(), "Text NotUtf8");
    }
}

/// RFC 7692 §6, §7.2
#[test]
fn compression() {
    let deflated = |bytes: &[u8], expected: &str| check(deflating, bytes, expected);
    deflated(b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00", "Text Hello;");
    deflated(b"\x41\x03\xf2\x48\xcd\x80\x04\xc9\xc9\x07\x00", "Text Hello;");
    // The bit is for the first frame of a message, and not for control frames.
    deflated(b"\x41\x03\xf2\x48\xcd\xc0\x04\xc9\xc9\x07\x00", "Text ReservedBit");
    for opcode in [0xc8, 0xc9, 0xca] {
        deflated(&[opcode, 0], "ReservedBit");
    }
    deflated(b"\xe1\x00", "ReservedBit");
    // A reserved type of block, lengths of a stored block that differ.
    deflated(b"\xc1\x01\x07", "Text NotDeflate");
    deflated(b"\xc1\x05\x00\x01\x00\x00\x00", "Text NotDeflate");
    // "a", and a repetition of 3 bytes from 4 bytes back (RFC 1951 §2): before the beginning.
    deflated(b"\xc1\x05\x4a\x04\x62\x00\x00", "Text NotDeflate");
    // Text that is not UTF-8 after inflating: a stored block.
    deflated(b"\xc1\x07\x00\x01\x00\xfe\xff\xff\x00", "Text NotUtf8");
    // Frames that inflate to nothing, beyond what any message of the limit needs.
    let nothing = [&b"\xc2\x7e\x0f\xa0"[..], &[0, 0, 0, 0xff, 0xff].repeat(800)].concat();
    deflated(&nothing, "MessageTooLarge");
    // A bomb: thousands of zeros in a few bytes.
    let mut deflater = super::Deflater::default();
    let bomb = deflater.deflate(&vec![0; 20_000]);
    assert!(bomb.len() < 256, "{} bytes", bomb.len());
    let whole = [&[0xc2, 0x7e, 0, bomb.len() as u8][..], bomb].concat();
    deflated(&whole, "Binary MessageTooLarge");
}
