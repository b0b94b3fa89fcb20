//! [`Serve`]: this program's own target.

use serde::{Deserialize, Serialize};

/// `wavetank serve` with its options. It listens on all addresses of its host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serve {
    /// `--tls`, with a certificate made at its start.
    pub tls: bool,
    /// `--threads`.
    pub threads: Option<u32>,
    /// `--any`: unknown paths are answered like `/`.
    pub any: bool,
    /// Further command-line options, one argument each. They never include the options above,
    /// `--listen` or `--connections` ([`Service::connections`](super::Service::connections)).
    pub options: Vec<String>,
}
