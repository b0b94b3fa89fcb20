//! What a journey reads from outside: see `wavetank_journey::fuzzing::course`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_journey::fuzzing::course(data));
