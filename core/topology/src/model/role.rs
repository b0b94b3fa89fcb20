//! [`Role`]: what a host is there for.

use serde::{Deserialize, Serialize};

/// What a host is there for; its kernel settings follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Makes load: load threads run in it.
    Load,
    /// Passes connections on to others.
    Balancer,
    /// Answers.
    Server,
    /// Anything else, with no settings but those that every host gets.
    Other,
}

impl Role {
    /// All of them with their words in the file.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("load", Self::Load),
        ("balancer", Self::Balancer),
        ("server", Self::Server),
        ("other", Self::Other),
    ];

    /// Its word in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Balancer => "balancer",
            Self::Server => "server",
            Self::Other => "other",
        }
    }
}
