//! Limits of messages between hosts.

/// Longest line of a controller, in bytes: an offer with its plan.
pub const CONTROLLER_LINE_BYTES_MAX: usize = 384 << 20;
/// Longest line of an agent, in bytes: a sealed interval with its data.
pub const AGENT_LINE_BYTES_MAX: usize = 64 << 20;
/// Longest interval that fits into a line of an agent, in bytes.
pub const INTERVAL_BYTES_MAX: usize = AGENT_LINE_BYTES_MAX - (4 << 10);
