//! [`FileServer`]: servers behind a balancer.

use wavetank_grammar::Span;

/// Hosts and a port, by which a balancer knows them.
#[derive(Clone)]
pub(crate) struct FileServer {
    /// Names that the pattern stands for; never none.
    pub(crate) names: Vec<String>,
    /// `None`: the balancer's own.
    pub(crate) port: Option<u16>,
    pub(crate) weight: u32,
    pub(crate) place: Span,
}
