//! Datagrams in both directions: the first byte chooses what an answer has in common with its request.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_wire::fuzzing::datagrams(data));
