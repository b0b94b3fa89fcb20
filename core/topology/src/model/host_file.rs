//! [`HostFile`]: one file over a host's `/etc`.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// A file of a host. It lies under `/etc`, which every host has an overlay of: anywhere else it would be the
/// machine's own file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFile {
    /// Its path: absolute, under `/etc/`, without `.` and `..`.
    pub path: String,
    /// What stands in it.
    pub text: String,
    /// Its permission bits, at most `0o777`; the default is `0o644`.
    pub mode: u32,
    /// Where it stands in the topology file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
