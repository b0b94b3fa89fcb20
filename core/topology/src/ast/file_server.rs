//! [`FileServer`]: servers behind a balancer.

use wavetank_grammar::Span;

/// Hosts and a port, as a balancer refers to them.
#[derive(Clone)]
pub(crate) struct FileServer {
    /// The host names that the pattern expands to; never empty.
    pub(crate) names: Vec<String>,
    /// The port; `None` is the balancer's own port.
    pub(crate) port: Option<u16>,
    pub(crate) weight: u32,
    pub(crate) place: Span,
}
