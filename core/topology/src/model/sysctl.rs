//! [`Sysctl`]: one kernel setting of a host.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// A setting of the host's network namespace, written and read back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sysctl {
    /// Its name with dots: `net.core.somaxconn`. A part that has a dot itself does not occur.
    pub key: String,
    /// What is written. When read back, blanks and tabs between numbers are alike.
    pub value: String,
    /// Why the lab sets it, in a sentence; of a user's own setting: `asked for by the file`.
    pub why: String,
    /// Where it stands in the file; of one that comes from the role, where the host stands.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
