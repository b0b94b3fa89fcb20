//! [`is_long`]: tests that simulate or wait for a long time have a short form for every run, and a
//! long one. A test without a short form asks [`is_left_to_long_form`].

use crate::skip;

/// Whether tests run in their long form: `cargo ci --long` sets `WAVETANK_LONG`.
pub fn is_long() -> bool {
    std::env::var_os("WAVETANK_LONG").is_some()
}

/// Whether `test` runs in the long form only, and this is the short one. It is then listed as
/// skipped. This is for tests that take long and resemble a quicker one.
pub fn is_left_to_long_form(test: &str) -> bool {
    if !is_long() {
        skip(test, "only in the long form of the tests");
    }
    !is_long()
}
