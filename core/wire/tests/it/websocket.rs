//! Property tests of WebSocket: no frames do harm, and how they are cut has no meaning.

use proptest::prelude::*;
use wavetank_wire::fuzzing;

/// Frames with any first byte, mostly of known types, with payloads that are often valid.
fn frames(masked: bool) -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..24),
        Just(b"text".to_vec()),
        Just(vec![0xe2, 0x82]),
        Just(vec![0xac]),
        Just(vec![0x03, 0xe8]),
        Just(vec![0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]),
    ];
    let first = prop_oneof![
        Just(0x81_u8),
        Just(0x82),
        Just(0x01),
        Just(0x00),
        Just(0x80),
        Just(0xc1),
        Just(0x88),
        Just(0x89),
        any::<u8>(),
    ];
    let frame = (first, payload).prop_map(move |(first, payload)| {
        let mask: &[u8] = if masked { b"\0\0\0\0" } else { b"" };
        let bit = if masked { 0x80 } else { 0 };
        [&[first, bit | payload.len() as u8], mask, &payload].concat()
    });
    (any::<u8>(), prop::collection::vec(frame, 0..12))
        .prop_map(|(choice, frames)| [vec![choice], frames.concat()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn frames_of_a_server(data in frames(false)) {
        fuzzing::websocket_client(&data);
    }

    #[test]
    fn frames_of_a_client(data in frames(true)) {
        fuzzing::websocket_server(&data);
    }

    #[test]
    fn any_bytes(data in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzzing::websocket_client(&data);
        fuzzing::websocket_server(&data);
    }
}
