//! Responses: the first byte chooses limits and which requests were HEAD, the rest is the connection.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_wire::fuzzing::response(data));
