//! The body of a response to a gRPC call.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_grpc::fuzzing::messages(data));
