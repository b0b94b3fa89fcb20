//! [`starter`]: a commented file to begin with.

/// The file that `wavetank new FILE` writes: runs as it is, and shows by comments what else there is.
pub const fn starter() -> &'static str {
    include_str!("starter.yaml")
}
