//! [`SessionEvent`]: an event that a session reports.

use wavetank_units::Nanos;

/// An event that a session reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// A group lasted from the first instant to the second.
    Group(u16, Nanos, Nanos),
    /// A line of `log`.
    Log(String),
}
