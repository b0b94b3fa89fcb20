//! The session that a client shows: see `wavetank_shop::fuzzing::cookie`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_shop::fuzzing::cookie(data));
