//! The query of a tier: see `wavetank_shop::fuzzing::tier`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_shop::fuzzing::tier(data));
