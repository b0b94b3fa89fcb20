//! Property tests of event streams, raw TCP and UDP: no bytes do harm, and how those of a stream
//! are cut has no meaning.

use proptest::prelude::*;
use wavetank_wire::fuzzing;

/// Lines of an event stream, mostly valid, with any of the three line ends.
fn lines() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just(b"data: one".to_vec()),
        Just(b"data:two".to_vec()),
        Just(b"data".to_vec()),
        Just(b"event: price".to_vec()),
        Just(b"id: 7".to_vec()),
        Just(b"id: 1\x002".to_vec()),
        Just(b"id".to_vec()),
        Just(b"retry: 10".to_vec()),
        Just(b": comment".to_vec()),
        Just(b"".to_vec()),
        Just(b"\xef\xbb\xbfdata: marked".to_vec()),
        Just(vec![b'x'; 5_000]),
        prop::collection::vec(any::<u8>(), 0..20),
    ];
    let end = prop_oneof![Just(&b"\n"[..]), Just(&b"\r"[..]), Just(&b"\r\n"[..])];
    prop::collection::vec((line, end), 0..16)
        .prop_map(|all| all.into_iter().flat_map(|(line, end)| [&line[..], end].concat()).collect())
}

/// The same in chunks of any length.
fn chunked() -> impl Strategy<Value = Vec<u8>> {
    (lines(), 1_usize..40, any::<bool>()).prop_map(|(lines, size, ends)| {
        let chunk = |piece: &[u8]| [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
        let mut all: Vec<u8> = lines.chunks(size).flat_map(chunk).collect();
        if ends {
            all.extend_from_slice(b"0\r\n\r\n");
        }
        all
    })
}

/// A frame of gRPC, mostly a valid one.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let flag = prop_oneof![6 => Just(0_u8), 2 => Just(1), 1 => Just(0x80), 1 => any::<u8>()];
    (flag, prop::collection::vec(any::<u8>(), 0..20), prop::bool::weighted(0.1)).prop_map(
        |(flag, data, longer)| {
            let length = u32::try_from(data.len()).expect("short") + if longer { 2_000 } else { 0 };
            [&[flag], &length.to_be_bytes()[..], &data].concat()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn event_streams(lines in lines(), chunked in chunked()) {
        fuzzing::event_stream(&[&[2], &lines[..]].concat());
        fuzzing::event_stream(&[&[1], &chunked[..]].concat());
    }

    #[test]
    fn any_bytes(data in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzzing::event_stream(&data);
        fuzzing::raw_bytes(&data);
        fuzzing::datagrams(&data);
        fuzzing::grpc_call(&data);
    }

    #[test]
    fn grpc_calls(choice in any::<u8>(), frames in prop::collection::vec(frame(), 0..6), cut in 0_usize..8) {
        let all = frames.concat();
        fuzzing::grpc_call(&[&[choice], &all[..all.len().saturating_sub(cut)]].concat());
    }

    #[test]
    fn answers_over_udp(choice in any::<u8>(), data in prop::collection::vec(0x80_u8..0x84, 0..4), rest in "[\u{0}-\u{4}ab]{0,60}") {
        fuzzing::datagrams(&[&[choice], &data[..], rest.as_bytes()].concat());
    }

    #[test]
    fn raw_answers(choice in any::<u8>(), data in "[ab\r\n\0\u{1}]{0,80}") {
        fuzzing::raw_bytes(&[&[choice], data.as_bytes()].concat());
    }
}
