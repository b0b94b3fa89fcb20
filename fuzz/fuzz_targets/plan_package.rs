//! The content of a plan package, without its checksum: what is read encodes and reads back the same.
#![no_main]

use wavetank_record::PlanPackage;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(package) = PlanPackage::decode_content(data) {
        let again = PlanPackage::decode(&package.encode().expect("it was small enough to be read"));
        // Text, because a number of a check may be none (NaN), which equals nothing.
        assert_eq!(format!("{:?}", again.expect("what was encoded here")), format!("{package:?}"));
    }
});
