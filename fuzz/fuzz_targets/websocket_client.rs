//! What a server sends to an HTTP/2 client: the first byte chooses the number of requests.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_wire::fuzzing::websocket_client(data));
