//! [`CustomProgram`]: the user's own binary and configuration in place of the found and generated ones.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// What the user brings for a service that is a program of others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomProgram {
    /// The binary, by its absolute path or by a name looked up in `PATH`; `None`: the usual name.
    pub binary: Option<String>,
    /// The user's own configuration, taken as it is; `None`: one is generated.
    pub config: Option<CustomConfig>,
    /// Directives left out of the generated configuration, to see what each of them does; each occurs in it.
    pub without: Vec<String>,
}

/// A configuration file of the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomConfig {
    /// Its name as the topology file writes it, for messages.
    pub name: String,
    /// What stands in it.
    pub text: String,
    /// Where its name stands in the topology file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
