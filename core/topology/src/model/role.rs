//! [`Role`]: the purpose of a host.

use serde::{Deserialize, Serialize};

/// The purpose of a host. It determines the host's kernel settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Generates load: load threads run in it.
    Load,
    /// Passes connections to other hosts.
    Balancer,
    /// Answers requests.
    Server,
    /// Anything else, with only the settings of every host.
    Other,
}

impl Role {
    /// All roles with their names in the file.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("load", Self::Load),
        ("balancer", Self::Balancer),
        ("server", Self::Server),
        ("other", Self::Other),
    ];

    /// Returns the name in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Balancer => "balancer",
            Self::Server => "server",
            Self::Other => "other",
        }
    }
}
