//! What a server sends in a gRPC call that stays open: the first byte chooses what surrounds it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wavetank_wire::fuzzing::grpc_call(data));
