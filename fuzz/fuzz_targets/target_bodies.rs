//! What is sent to the shop as a body: see `wavetank_shop::fuzzing::bodies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_shop::fuzzing::bodies(data));
