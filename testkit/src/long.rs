//! [`is_long`]: tests that simulate or wait for a long time have a short form for every run, and a
//! long one.

/// Whether tests run in their long form: `cargo ci --long` sets `WAVETANK_LONG`.
pub fn is_long() -> bool {
    std::env::var_os("WAVETANK_LONG").is_some()
}
