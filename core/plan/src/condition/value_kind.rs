//! [`ValueKind`]: what a subject of a condition can be compared with.

/// The kinds of values that a subject can be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// A duration.
    Time,
    /// A count, or a share of what was offered or planned.
    CountOrShare,
    /// A count only.
    Count,
    /// A rate.
    Rate,
    /// A share only.
    Share,
    /// Bytes, or a share of all the host has.
    BytesOrShare,
    /// A link's rate.
    Link,
}
