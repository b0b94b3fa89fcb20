//! What is sent to the shop as a body: see `wavetank_target::fuzzing::bodies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_target::fuzzing::bodies(data));
