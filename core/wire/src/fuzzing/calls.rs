//! The fuzz target of gRPC calls that stay open.

use crate::grpc::{Client, push_end, split_end};

use super::transcript::{Cut, Transcript};

const HEAD: &[u8] = b"HTTP/1.1 200\r\ncontent-type: application/grpc\r\n\r\n";
const MESSAGE_BYTES_MAX: u64 = 1 << 10;

/// Reads `data` as what the stream of a call carries: its first byte chooses whether the client has
/// ended its side, whether a head precedes it, and whether an end follows it.
pub fn grpc_call(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let mut all = if choice & 2 == 0 { HEAD.to_vec() } else { Vec::new() };
    all.extend_from_slice(bytes);
    if choice & 4 == 0 {
        push_end(&mut all, u16::from(choice >> 4), b"grpc-message: a\r\n");
    }
    Cut::same_for_all(data, |cut| call(choice, &all, cut));
    let (frames, _) = split_end(bytes);
    assert!(bytes.starts_with(frames), "frames are a beginning");
}

fn call(choice: u8, bytes: &[u8], cut: &mut Cut) -> String {
    let (mut client, mut said) = (Client::new(MESSAGE_BYTES_MAX), Transcript::default());
    if choice & 1 == 0 {
        client.open(b"");
    } else {
        client.call(b"");
    }
    cut.feed(bytes, &mut said, |piece, said| client.read(piece, said));
    said.events
}
