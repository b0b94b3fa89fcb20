//! The fuzz target of streams that take the place of connections.

use crate::h2::{StreamFailure, TunnelClient, TunnelSink};

use super::transcript::{Cut, Transcript};

/// No input may make the machine write more than this before it is sent.
const OUT_BYTES_MAX: usize = 1 << 20;
/// SETTINGS with `SETTINGS_ENABLE_CONNECT_PROTOCOL`.
const SETTINGS: [u8; 15] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 1];
const UPGRADE: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\n\r\n";
const EVENTS: &[u8] = b"GET /events HTTP/1.1\r\nHost: a\r\n\r\n";

impl TunnelSink<u32> for Transcript {
    fn received(&mut self, _: u32, bytes: &[u8]) {
        // How many arrive before a fault depends on the cuts.
        assert!(!bytes.is_empty(), "an event without bytes");
    }

    fn ended(&mut self, key: u32) {
        self.note(format_args!("{key} ended"));
    }

    fn failed(&mut self, key: u32, failure: StreamFailure) {
        self.note(format_args!("{key} {failure:?}"));
    }
}

/// Reads `data` as what a server sends: its first byte chooses the number of streams and whether
/// settings come first.
pub fn http2_tunnels(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let bytes = if choice & 8 == 0 { [&SETTINGS, bytes].concat() } else { bytes.to_vec() };
    Cut::same_for_all(data, |cut| tunnels(choice, &bytes, cut));
}

fn tunnels(choice: u8, bytes: &[u8], cut: &mut Cut) -> (String, Vec<u8>) {
    let (mut client, mut said) = (TunnelClient::new(false), Transcript::default());
    let mut opened = 0;
    let mut rest = bytes;
    // The settings decide about what is opened. Without them nothing is.
    if choice & 8 == 0 {
        client.read(&SETTINGS, &mut said).expect("valid settings");
        rest = &bytes[SETTINGS.len()..];
        for key in 0..u32::from(choice & 7) {
            let request = if key.is_multiple_of(2) { UPGRADE } else { EVENTS };
            let stream = client.open(key, request).expect("the server accepts WebSockets");
            client.send(stream, b"data");
            opened += 1;
        }
    }
    cut.feed(rest, &mut said, |piece, said| client.read(piece, said));
    assert!(client.out().len() <= OUT_BYTES_MAX, "{} bytes are to be sent", client.out().len());
    let ended = said.events.lines().filter(|line| !line.starts_with("fault")).count();
    assert_eq!(ended + client.in_use(), opened, "every stream ends once: {}", said.events);
    (said.events, std::mem::take(client.out()))
}
