//! Requests: the first byte chooses the limits, the rest is the connection.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_wire::fuzzing::request(data));
