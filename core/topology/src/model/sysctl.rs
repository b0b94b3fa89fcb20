//! [`Sysctl`]: one kernel setting of a host.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// A setting of the host's network namespace, written and read back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sysctl {
    /// Its dotted name: `net.core.somaxconn`. Parts that contain a dot do not occur.
    pub key: String,
    /// The value to write. When it is read back, blanks and tabs between numbers are equivalent.
    pub value: String,
    /// The reason for the setting, as a sentence. For a user's own setting it is `asked for by the
    /// file`.
    pub why: String,
    /// Position in the file. A setting that follows from the role has the position of the host.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
