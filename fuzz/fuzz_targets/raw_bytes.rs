//! What a server sends on raw TCP: the first byte chooses how answers end.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_wire::fuzzing::raw_bytes(data));
