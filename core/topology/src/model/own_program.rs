//! [`CustomProgram`]: the user's own binary and configuration instead of the installed and
//! generated ones.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// The user's own parts of a service that runs a third-party program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomProgram {
    /// The binary, as an absolute path or a name looked up in `PATH`; `None`: the usual name.
    pub binary: Option<String>,
    /// The user's own configuration, used unchanged; `None`: one is generated.
    pub config: Option<CustomConfig>,
    /// Directives left out of the generated configuration, to show the effect of each. Each of them
    /// occurs in it.
    pub without: Vec<String>,
}

/// A user's own configuration file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomConfig {
    /// Its name as written in the topology file, for messages.
    pub name: String,
    /// Its contents.
    pub text: String,
    /// The absolute path of its folder, which its relative names may refer to; `None` if unknown.
    pub folder: Option<String>,
    /// Position of its name in the topology file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
