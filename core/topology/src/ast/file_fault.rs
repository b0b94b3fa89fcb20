//! [`FileFault`]: a fault in the topology file. Its host may be a pattern.

use wavetank_grammar::{Span, Spanned};
use wavetank_units::Nanos;

/// A fault that applies to each host of a pattern.
pub(crate) struct FileFault {
    pub(crate) place: Span,
    pub(crate) when: Nanos,
    pub(crate) lasts: Option<Nanos>,
    /// The host names that the pattern expands to; never empty.
    pub(crate) hosts: Spanned<Vec<String>>,
    /// The service or the network.
    pub(crate) of: Spanned<String>,
    pub(crate) kind: FileFaultKind,
}

/// The kind of a fault.
#[derive(Clone, Copy)]
pub(crate) enum FileFaultKind {
    Kill,
    Stop,
    Pause,
    Cut,
    /// Dropped packets per million.
    Drop(u32),
    /// Maximum number of open files.
    Files(u64),
    Slow(Nanos),
}
