//! Property tests of HTTP/3: no records do harm, and how they are cut has no meaning.

use proptest::prelude::*;
use wavetank_wire::fuzzing;

/// Records on streams in use, with frames that are often valid.
fn records() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..12),
        Just(vec![1, 3, 0, 0, 0xd9]),
        Just(vec![1, 3, 0, 0, 0xd8]),
        Just(vec![1, 5, 0, 0, 0xd1, 0xd7, 0xc1]),
        Just(vec![0, 4, b'b', b'o', b'd', b'y']),
        Just(vec![0, 0]),
        Just(vec![0x21, 2, 9, 9]),
        Just(vec![0, 4, 2, 6, 9]),
        Just(vec![7, 1, 4]),
        Just(vec![2, 0x20]),
        Just(vec![3, 0x44]),
    ];
    let record = (any::<u8>(), prop::collection::vec(payload, 1..4)).prop_map(|(choice, payloads)| {
        let payload = payloads.concat();
        [vec![choice, payload.len() as u8], payload].concat()
    });
    (any::<u8>(), prop::collection::vec(record, 0..10))
        .prop_map(|(choice, records)| [vec![choice], records.concat()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn records_of_a_server(data in records()) {
        fuzzing::http3_client(&data);
    }

    #[test]
    fn records_of_a_client(data in records()) {
        fuzzing::http3_server(&data);
    }

    #[test]
    fn any_bytes(data in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzzing::http3_client(&data);
        fuzzing::http3_server(&data);
    }
}
