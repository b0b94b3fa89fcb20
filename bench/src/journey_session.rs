//! Session that every generator of `bench journey` sends.

/// Requests of a session.
pub(crate) const STEPS: u64 = 5;
/// Text that the first response of a session must contain.
pub(crate) const WANTED: &str = "page of the shop";
