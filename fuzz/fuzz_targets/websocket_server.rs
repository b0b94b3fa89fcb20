//! What a client sends to an HTTP/2 server: the first byte chooses whether the preface comes first.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_wire::fuzzing::websocket_server(data));
