//! Files of settings: any bytes are judged as files of every kind without a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_tuning::fuzzing::fuzz_lint(data));
