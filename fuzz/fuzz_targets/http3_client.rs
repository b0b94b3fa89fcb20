//! What a server sends to an HTTP/3 client, as records of streams.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_wire::fuzzing::http3_client(data));
