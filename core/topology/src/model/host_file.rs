//! [`HostFile`]: one file over a host's `/etc`.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// A file of a host. It is under `/etc`, over which every host has its own overlay. Any other path
/// would change the machine's own file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFile {
    /// Its absolute path under `/etc/`, without `.` and `..`.
    pub path: String,
    /// Its contents.
    pub text: String,
    /// Its permission bits, at most `0o777`; the default is `0o644`.
    pub mode: u32,
    /// Position in the topology file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
