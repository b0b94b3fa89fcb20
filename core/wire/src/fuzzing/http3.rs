//! The fuzz targets of HTTP/3.

use crate::h1::Limits;
use crate::h3::records::{self, RecordKind};
use crate::h3::{Client, Server};

use super::transcript::{Cut, Transcript};

/// No input may make the machine write more than this before it is sent.
const OUT_BYTES_MAX: usize = 1 << 20;

/// Makes records of `data`: a byte chooses stream and kind, and the next one the length.
fn script(mut data: &[u8], streams: &[u64]) -> Vec<(u64, RecordKind, Vec<u8>)> {
    let mut script: Vec<(u64, RecordKind, Vec<u8>)> = Vec::new();
    let mut ended = Vec::new();
    while let Some(([choice, length], rest)) = data.split_first_chunk() {
        let (bytes, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        data = rest;
        let stream = streams[usize::from(choice & 15) % streams.len()];
        let kind = match choice >> 4 {
            0 => RecordKind::Reset,
            1 => RecordKind::Stop,
            2..=6 => RecordKind::End,
            _ => RecordKind::Data,
        };
        // QUIC delivers nothing after the end of a stream.
        if ended.contains(&stream) {
            continue;
        }
        match kind {
            RecordKind::Reset | RecordKind::Stop => script.push((stream, kind, vec![*choice; 8])),
            _ => script.push((stream, kind, bytes.to_vec())),
        }
        if matches!(kind, RecordKind::End | RecordKind::Reset) {
            ended.push(stream);
        }
    }
    script
}

/// Calls `each` with the records of `script`, with their bytes cut.
fn feed(script: &[(u64, RecordKind, Vec<u8>)], cut: &mut Cut, mut each: impl FnMut(&[u8]) -> Result<(), ()>) {
    let mut record = Vec::new();
    for (stream, kind, bytes) in script {
        let mut rest = &bytes[..];
        loop {
            let is_code = matches!(kind, RecordKind::Reset | RecordKind::Stop);
            let piece = if is_code || rest.is_empty() { rest } else { cut.piece(rest) };
            rest = &rest[piece.len()..];
            let own = if rest.is_empty() { *kind } else { RecordKind::Data };
            record.clear();
            records::push(&mut record, *stream, own, piece);
            if each(&record).is_err() {
                return;
            }
            if rest.is_empty() {
                break;
            }
        }
    }
}

/// Reads `data` as the records of a server: its first byte chooses the number of requests.
pub fn http3_client(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let mut script = script(bytes, &[0, 4, 8, 3, 7, 11, 12, 1, 2]);
    if choice & 8 == 0 {
        script.insert(0, (15, RecordKind::Data, vec![0, 4, 0]));
    }
    Cut::same_for_all(data, |cut| client(choice, &script, cut));
}

fn client(choice: u8, script: &[(u64, RecordKind, Vec<u8>)], cut: &mut Cut) -> (Transcript, Vec<u8>) {
    let (mut client, mut said) = (Client::new(Limits::default()), Transcript::default());
    let requests = u32::from(choice & 3);
    for tag in 0..requests {
        let text: &[u8] = match tag {
            0 => b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
            1 => b"HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n",
            _ => b"POST /a HTTP/1.1\r\nHost: a\r\n\r\nbody",
        };
        assert_eq!(client.request(tag, text), Ok(()), "valid text was rejected");
    }
    feed(script, cut, |record| said.note_fault(|said| client.read(record, said)).map_err(drop));
    assert!(client.out().len() <= OUT_BYTES_MAX, "{} bytes are to be sent", client.out().len());
    let is_end = |line: &&str| !line.contains(" head ") && !line.contains('=') && !line.starts_with("fault");
    let ended = said.events.lines().filter(is_end).count();
    let out = std::mem::take(client.out());
    let mut cut_off = 0;
    client.cut(|_, _| cut_off += 1);
    assert_eq!(ended + cut_off, requests as usize, "every request ends once: {said:?}");
    (said, out)
}

/// Reads `data` as the records of a client.
pub fn http3_server(data: &[u8]) {
    let script = script(data, &[0, 4, 8, 2, 6, 10, 1]);
    Cut::same_for_all(data, |cut| server(&script, cut));
}

fn server(script: &[(u64, RecordKind, Vec<u8>)], cut: &mut Cut) -> (Transcript, Vec<u8>) {
    let (mut server, mut said) = (Server::new(Limits::default()), Transcript::default());
    feed(script, cut, |record| said.note_fault(|said| server.read(record, said)).map_err(drop));
    assert!(server.out().len() <= OUT_BYTES_MAX, "{} bytes are to be sent", server.out().len());
    (said, std::mem::take(server.out()))
}
