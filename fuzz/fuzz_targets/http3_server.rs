//! What a client sends to an HTTP/3 server, as records of streams.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_wire::fuzzing::http3_server(data));
