//! [`FileFault`]: a fault, its host perhaps a pattern.

use wavetank_grammar::{Span, Spanned};
use wavetank_plan::Nanos;

/// A fault, of each host of a pattern.
pub(crate) struct FileFault {
    pub(crate) place: Span,
    pub(crate) when: Nanos,
    pub(crate) lasts: Option<Nanos>,
    /// Names that the pattern stands for; never none.
    pub(crate) hosts: Spanned<Vec<String>>,
    /// The service or the network.
    pub(crate) of: Spanned<String>,
    pub(crate) kind: FileFaultKind,
}

/// What happens.
#[derive(Clone, Copy)]
pub(crate) enum FileFaultKind {
    Kill,
    Stop,
    Pause,
    Cut,
    /// Packets of a million.
    Drop(u32),
    /// The most files.
    Files(u64),
    Slow(Nanos),
}
