//! [`HostFile`]: one file that only a host has.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// A file of a host. Its folder is covered by the host's own layer, so the machine's file stays
/// unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFile {
    /// Its absolute path, without `.` and `..`.
    pub path: String,
    /// Its contents.
    pub text: String,
    /// Its permission bits, at most `0o777`; the default is `0o644`.
    pub mode: u32,
    /// Position in the topology file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
