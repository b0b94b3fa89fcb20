//! Groups 12 and 13: permessage-deflate (RFC 7692), with five kinds of data and the parameters that
//! both sides may choose. The suite sends 1,000 messages in each case; here they are fewer.

use std::fmt::Write as _;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};

use super::super::bad_input::reply;
use super::super::tests::{REQUEST, upgrade_of};
use super::{
    BINARY, COMPRESSED, Client, Event, Fault, Frame, Limits, Log, Machine, Server, TEXT, bytes_of, close,
    fragments, frame, run,
};

/// The length of the messages, and of the frames into which they are cut (0: they are not).
const SIZES: [(usize, usize); 18] = [
    (16, 0),
    (64, 0),
    (256, 0),
    (1_024, 0),
    (4_096, 0),
    (8_192, 0),
    (16_384, 0),
    (32_768, 0),
    (65_536, 0),
    (131_072, 0),
    (8_192, 256),
    (16_384, 256),
    (32_768, 256),
    (65_536, 256),
    (131_072, 256),
    (131_072, 1_024),
    (131_072, 4_096),
    (131_072, 32_768),
];

/// What a side of the suite does with its messages: nothing, or permessage-deflate.
#[derive(Clone, Copy, Debug)]
struct Deflate {
    keeps_context: bool,
    window_bits: u8,
}

/// The suite keeps its context and has the largest window.
const KEEPS: Deflate = Deflate { keeps_context: true, window_bits: 15 };

/// The text and the bytes that messages are cut from, as the suite has them: JSON, a picture,
/// German text, HTML, and a file that is compressed already.
fn data(kind: usize) -> (bool, Vec<u8>) {
    let mut random = 7_u32;
    let mut draw = move || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random >> 24
    };
    let mut text = String::new();
    let bytes: Vec<u8> = match kind {
        1 | 4 => {
            for row in 0..900 {
                let (one, other) = (draw(), draw());
                if kind == 1 {
                    writeln!(text, "{{\"id\": {row}, \"name\": \"Größe {one}\", \"sizes\": [{other}]}},")
                } else {
                    writeln!(text, "<tr><td class=\"case\"><a href=\"#case_{one}\">{other}</a></td></tr>")
                }
                .expect("a string takes it");
            }
            text.into_bytes()
        }
        2 => (0..60_000_u32).map(|at| (at / 256 + at % 256 / 2 + draw() % 4) as u8).collect(),
        3 => {
            let words =
                ["Habe", "nun", "ach", "die", "Philosophie", "und", "leider", "auch", "\r\n", "heißem"];
            (0..12_000).flat_map(|_| [words[draw() as usize % 10].as_bytes(), b" "].concat()).collect()
        }
        _ => (0..60_000).map(|_| draw() as u8).collect(),
    };
    (matches!(kind, 1 | 4), bytes)
}

/// Returns the messages of a case: as many characters or bytes as it says, one after the other.
fn messages(kind: usize, length: usize) -> Vec<Frame> {
    let (is_text, bytes) = data(kind);
    let count = (65_536 / length).clamp(2, 20);
    if !is_text {
        let bytes: Vec<u8> = bytes.iter().copied().cycle().take(count * length).collect();
        return bytes.chunks(length).map(|message| frame(BINARY, message)).collect();
    }
    let mut characters = str::from_utf8(&bytes).expect("it is text").chars().cycle();
    (0..count).map(|_| frame(TEXT, characters.by_ref().take(length).collect::<String>())).collect()
}

/// Compresses `messages` as one side of a connection does, and cuts them into frames.
fn compressed(messages: &[Frame], deflate: Deflate, size: usize) -> Vec<Frame> {
    let mut compress = Compress::new_with_window_bits(Compression::default(), false, deflate.window_bits);
    let mut frames = Vec::new();
    for message in messages {
        let mut out = Vec::with_capacity(message.payload.len() + message.payload.len() / 8 + 64);
        compress.compress_vec(&message.payload, &mut out, FlushCompress::Sync).expect("room for all of it");
        let payload = out.strip_suffix(&[0, 0, 0xff, 0xff]).expect("the end of a block");
        let size = if size == 0 { payload.len() } else { size };
        frames.extend(fragments(message.first | COMPRESSED, payload, size));
        if !deflate.keeps_context {
            compress.reset();
        }
    }
    frames
}

/// Inflates what a machine has written. It uses no context (RFC 7692 §7.1.1).
fn inflated(frames: Vec<Frame>) -> Vec<Frame> {
    let inflate = |written: Frame| {
        if written.first & COMPRESSED == 0 {
            return written;
        }
        let payload = [&written.payload[..], &[0, 0, 0xff, 0xff]].concat();
        let mut out = Vec::with_capacity(600_000);
        Decompress::new(false).decompress_vec(&payload, &mut out, FlushDecompress::Sync).expect("deflated");
        frame(written.first & !COMPRESSED, out)
    };
    frames.into_iter().map(inflate).collect()
}

/// Sends the messages of a case to our side, which sends them back. `deflate`: the suite compresses
/// them like this; `None`: neither side does.
fn check<M: Machine>(start: impl Fn() -> M, messages: &[Frame], deflate: Option<Deflate>, size: usize) {
    let frames = match deflate {
        Some(deflate) => compressed(messages, deflate, size),
        None => messages.to_vec(),
    };
    let bytes = bytes_of(&frames, M::IS_SERVER);
    let last = bytes_of(&[close(1000, "")], M::IS_SERVER);
    let sizes = if bytes.len() < 10_000 { vec![bytes.len(), 1, 7] } else { vec![bytes.len(), 997] };
    for size in sizes {
        let outcome = run(start(), bytes.chunks(size).chain([&last[..]]), true);
        let (end, received) = outcome.events.split_last().expect("a close");
        assert_eq!(*end, Event::Closed(1000));
        assert!(received.iter().eq(messages.iter().cloned().map(Event::Message).collect::<Vec<_>>().iter()));
        let is_compressed = outcome.written.iter().filter(|frame| frame.first & COMPRESSED != 0).count();
        assert_eq!(is_compressed, if deflate.is_some() { messages.len() } else { 0 });
        let mut echoes = inflated(outcome.written);
        assert_eq!(echoes.pop(), Some(close(1000, "")));
        assert!(echoes == messages, "{} echoes of {}", echoes.len(), messages.len());
    }
}

/// A client after the response of a server that chose `parameters`; `None`: no compression.
fn client(parameters: Option<&str>) -> Client {
    let mut client = Client::new(Limits::default(), 7);
    client.connect(REQUEST);
    client.out().clear();
    let field = parameters.map(|chosen| format!("Sec-WebSocket-Extensions: permessage-deflate{chosen}\r\n"));
    client.read(reply(&field.unwrap_or_default()).as_bytes(), &mut Log::default()).expect("an upgrade");
    client
}

/// Returns whether our server accepts one of these offers.
fn is_accepted(offers: &str) -> bool {
    let head = str::from_utf8(REQUEST).expect("text").split("Sec-WebSocket-Extensions").next();
    let request = format!(
        "{}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: {offers}\r\n\r\n",
        head.expect("fields")
    );
    upgrade_of(request.as_bytes()).expect("an upgrade").deflate
}

/// 12.1.1 to 12.5.18: every kind of data, with the defaults of the suite.
#[test]
fn every_kind_of_data() {
    let default = "permessage-deflate; client_no_context_takeover; client_max_window_bits";
    assert!(is_accepted(default));
    for kind in 1..=5 {
        for (length, size) in SIZES {
            let messages = messages(kind, length);
            check(|| client(Some("")), &messages, Some(KEEPS), size);
            // Our server asks clients for messages without a context.
            let without = Deflate { keeps_context: false, ..KEEPS };
            check(|| Server::new(Limits::default(), true), &messages, Some(without), size);
        }
    }
}

/// 13.1.1 to 13.7.18: the parameters. What the suite wants as a server, given our client's offer;
/// what it offers as a client; whether our server accepts that.
///
/// Our client does not offer `client_max_window_bits`, so that a server may not ask for a smaller
/// window (RFC 7692 §7.1.2.2): in cases 13.3 to 13.6 the suite, as a server, then accepts without
/// compression. Our server has one window and declines offers that limit it (§7.1.2.1): the same
/// cases are without compression there.
#[test]
fn parameters() {
    const BOTH: &str = "; client_no_context_takeover; client_max_window_bits";
    let offer = |parameters: &str| format!("permessage-deflate{parameters}{BOTH}");
    let without = Deflate { keeps_context: false, ..KEEPS };
    let nine = "; server_no_context_takeover; server_max_window_bits=9";
    let three = [offer(nine), offer("; server_no_context_takeover"), offer("")].join(", ");
    for (case, chosen, offers, accepted) in [
        (1, Some(""), offer(""), true),
        (2, Some("; client_no_context_takeover"), offer("; server_no_context_takeover"), true),
        (3, None, offer("; server_max_window_bits=9"), false),
        (4, None, offer("; server_max_window_bits=15"), false),
        (5, None, offer(nine), false),
        (6, None, offer("; server_no_context_takeover; server_max_window_bits=15"), false),
        (7, Some("; client_no_context_takeover"), three, true),
    ] {
        assert_eq!(is_accepted(&offers), accepted, "13.{case}");
        for (length, size) in SIZES {
            let messages = messages(1, length);
            check(|| client(chosen), &messages, chosen.map(|_| KEEPS), size);
            check(|| Server::new(Limits::default(), accepted), &messages, accepted.then_some(without), size);
        }
    }
}

/// All that a server may choose, given our client's offer (RFC 7692 §7.1): contexts and windows.
#[test]
fn choices_of_servers() {
    for (context, keeps_context) in [("", true), ("; server_no_context_takeover", false)] {
        for own in ["", "; client_no_context_takeover"] {
            for window_bits in 9..=15 {
                let chosen = format!("{own}{context}; server_max_window_bits={window_bits}");
                for kind in 1..=5 {
                    let deflate = Deflate { keeps_context, window_bits };
                    check(|| client(Some(&chosen)), &messages(kind, 5_000), Some(deflate), 600);
                }
            }
        }
    }
}

/// A server that keeps its context although it has agreed not to refers to what is gone.
#[test]
fn a_context_that_is_not_kept() {
    let messages = messages(4, 400);
    let bytes = bytes_of(&compressed(&messages, KEEPS, 0), false);
    let outcome = run(client(Some("; server_no_context_takeover")), [&bytes[..]], false);
    let expected = [Event::Message(messages[0].clone()), Event::Fault(Fault::NotDeflate)];
    assert_eq!(outcome.events, expected);
    assert_eq!(outcome.written, [close(1007, "")]);
}
