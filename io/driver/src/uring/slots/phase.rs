//! [`Phase`]: the phase of a slot.

/// The phase of a slot's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::uring) enum Phase {
    /// No connection.
    Free,
    /// Reserved for the next peer of a listener.
    Accepting,
    Connecting,
    Open,
    /// Closed by its owner, but some sent bytes may still have to be kept.
    Leaving,
    /// Closed; operations in flight are ending.
    Closing,
}
