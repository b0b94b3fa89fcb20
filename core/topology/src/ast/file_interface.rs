//! [`FileInterface`]: a host on a network.

use std::net::IpAddr;

use wavetank_grammar::Spanned;

use crate::Link;

/// A host on a network.
pub(crate) struct FileInterface {
    /// The network's name.
    pub(crate) network: Spanned<String>,
    /// The addresses given in the file, for all hosts of the pattern.
    pub(crate) addresses: Option<Spanned<Vec<IpAddr>>>,
    /// Number of addresses of each host.
    pub(crate) sources: u32,
    pub(crate) link: Link,
}
