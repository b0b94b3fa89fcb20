//! [`starter`]: a commented experiment to start from.

/// Returns the file that `wavetank new FILE` writes. It runs unchanged, and its comments show the
/// other settings.
pub const fn starter() -> &'static str {
    include_str!("starter.yaml")
}
