//! [`Method`]: the request methods that are distinguished.

/// The request methods that are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// GET or HEAD.
    Get,
    Post,
    /// PUT, DELETE, PATCH or OPTIONS.
    Known,
    Unknown,
}
