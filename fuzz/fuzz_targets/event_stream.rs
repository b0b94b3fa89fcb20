//! What a server sends on an event stream: the first byte chooses the framing.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_wire::fuzzing::event_stream(data));
