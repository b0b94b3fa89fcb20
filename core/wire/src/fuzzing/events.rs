//! The fuzz targets of event streams and raw TCP.

use crate::h1::Limits;
use crate::messages::IdleState;
use crate::raw::{self, ReadRule};
use crate::sse::Client;

use super::transcript::{Cut, Transcript};

const LIMITS: Limits = Limits {
    head_bytes_max: 256,
    headers_max: 16,
    body_bytes_max: 1 << 12,
    interim_max: 2,
    chunk_extension_bytes_max: 32,
    trailer_bytes_max: 64,
};
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";

/// Reads `data` as what a server sends: its first byte chooses whether the head of a response
/// precedes it, and its framing.
pub fn event_stream(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let whole = Cut::same_for_all(data, |cut| events(choice, bytes, cut, false));
    let parked = events(choice, bytes, &mut Cut::Every(1), true);
    assert_eq!(parked, whole, "the result depends on whether the idle machine was discarded");
}

/// `parks`: the machine is replaced whenever it is idle.
fn events(choice: u8, bytes: &[u8], cut: &mut Cut, parks: bool) -> String {
    let head: &[u8] = match choice & 3 {
        0 => b"",
        1 => b"Transfer-Encoding: chunked\r\n\r\n",
        _ => b"\r\n",
    };
    let head = if head.is_empty() { Vec::new() } else { [HEAD, head].concat() };
    let mut client = Client::new(LIMITS);
    client.connect(b"GET / HTTP/1.1\r\n\r\n", b"");
    client.out().clear();
    let mut said = Transcript::default();
    let all = [&head[..], bytes].concat();
    let mut rest = &all[..];
    while !rest.is_empty() {
        let piece = cut.piece(rest);
        rest = &rest[piece.len()..];
        if let Err(fault) = client.read(piece, &mut said) {
            assert_eq!(client.read(piece, &mut said), Err(fault), "a fault that is not repeated");
            said.note(format_args!("fault {fault:?}"));
            break;
        }
        if parks && let Some(body) = client.idle_body() {
            let _: IdleState = IdleState::Events(body);
            client = Client::resume(LIMITS, body, client.last_id());
        }
    }
    said.events
}

/// Reads `data` as what a server sends on raw TCP, by rules that its first byte chooses.
pub fn raw_bytes(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    Cut::same_for_all(data, |cut| answers(choice, bytes, cut));
}

fn answers(choice: u8, bytes: &[u8], cut: &mut Cut) -> String {
    let rules = [ReadRule::Until(b"\r\n"), ReadRule::Length(3), ReadRule::Prefix(2), ReadRule::Until(b"aab")];
    let (first, second) = (rules[usize::from(choice & 3)], rules[usize::from(choice >> 2 & 3)]);
    let mut client = raw::Client::new(1 << 10, true);
    client.connect();
    let mut said = Transcript::default();
    let mut turn = 0;
    client.wait(first);
    let mut rest = bytes;
    while !rest.is_empty() {
        let piece = cut.piece(rest);
        rest = &rest[piece.len()..];
        if read_on(&mut client, piece, &mut said, (first, second), &mut turn).is_err() {
            break;
        }
    }
    said.events
}

/// Reads a piece, and waits for the next answer as often as one was complete.
fn read_on(
    client: &mut raw::Client,
    piece: &[u8],
    said: &mut Transcript,
    (first, second): (ReadRule<'_>, ReadRule<'_>),
    turn: &mut u32,
) -> Result<(), raw::Fault> {
    let mut piece = piece;
    loop {
        let read = client.read(piece, said);
        if let Err(fault) = read {
            said.note(format_args!("fault {fault:?}"));
            return Err(fault);
        }
        if client.is_waiting() {
            return Ok(());
        }
        piece = b"";
        *turn += 1;
        client.wait(if turn.is_multiple_of(2) { first } else { second });
    }
}
