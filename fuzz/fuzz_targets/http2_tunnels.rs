//! What a server sends to streams in place of connections: the first byte chooses their number.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_wire::fuzzing::http2_tunnels(data));
