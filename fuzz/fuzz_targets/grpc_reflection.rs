//! What a server answers to reflection: rounds of one byte for the status, two for the length, and
//! the body.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_grpc::fuzzing::reflection(data));
