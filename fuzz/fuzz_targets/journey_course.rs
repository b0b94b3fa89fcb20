//! What a journey reads from outside: see `wavetank_journey::fuzzing::fuzz_session`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_journey::fuzzing::fuzz_session(data));
