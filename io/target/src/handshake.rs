//! [`Handshake`]: the TLS handshake of a connection.

/// The TLS handshake of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// Not complete, or no TLS.
    None,
    Full,
    /// With a resumed session.
    Resumed,
}
