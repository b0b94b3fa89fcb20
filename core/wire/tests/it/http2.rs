//! Property tests of HTTP/2: no frames do harm, and how they are cut has no meaning.

use proptest::prelude::*;
use wavetank_wire::fuzzing;

/// Frames of any type, mostly on streams that are in use, with payloads that are often valid.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..24),
        Just(vec![0x88]),
        Just(vec![0x88, 0x0f, 0x0d, 0x01, b'3']),
        Just(vec![0x82, 0x86, 0x84]),
        Just(vec![0, 0, 0, 1]),
        Just(b"12345678".to_vec()),
    ];
    let flags = prop_oneof![Just(0_u8), Just(1), Just(4), Just(5), any::<u8>()];
    let frame = (0_u8..11, flags, 0_u8..12, payload).prop_map(|(kind, flags, stream, payload)| {
        let mut bytes = vec![0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream];
        bytes.extend_from_slice(&payload);
        bytes
    });
    (any::<u8>(), prop::collection::vec(frame, 0..12))
        .prop_map(|(choice, frames)| [vec![choice], frames.concat()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn frames_of_a_server(data in frames()) {
        fuzzing::http2_client(&data);
    }

    #[test]
    fn frames_on_tunnels(data in frames()) {
        fuzzing::http2_tunnels(&data);
    }

    #[test]
    fn frames_of_a_client(data in frames()) {
        fuzzing::http2_server(&data);
    }

    #[test]
    fn any_bytes(data in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzzing::http2_client(&data);
        fuzzing::http2_server(&data);
        fuzzing::http2_tunnels(&data);
    }
}
