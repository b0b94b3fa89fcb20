//! A line of `intervals/<agent>.jsonl`, read into memory that held another: what is read encodes and reads back the same.
#![no_main]

use wavetank_record::IntervalLine;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut reader = IntervalLine::default();
    for line in data.split(|&byte| byte == b'\n') {
        if reader.decode_again(line).is_ok() {
            let again = IntervalLine::decode(reader.encode().as_bytes()).expect("what was encoded here");
            assert!(again == reader, "not read back as it was written");
        }
    }
});
