//! [`AllowTarget`]: one word of `--allow-target`.

use std::fmt;

use crate::{Code, Network, UserError};

/// One word of `--allow-target`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowTarget {
    /// Every address inside.
    Network(Network),
    /// Every address this name resolves to; lower case.
    Name(String),
}

impl AllowTarget {
    /// Reads a CIDR, an address or a name. Fails on anything else, such as a URL.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let bare = text.trim_start_matches('[').trim_end_matches(']');
        if let Some(network) = Network::parse(bare) {
            return Ok(Self::Network(network));
        }
        let named = !text.is_empty()
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
            && !text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        if named {
            return Ok(Self::Name(text.trim_end_matches('.').to_ascii_lowercase()));
        }
        Err(UserError::usage(
            Code::BadNetwork,
            format!("`{text}` is not a network, address or host name"),
            "--allow-target 203.0.113.0/24, an address, or a host name without scheme and port",
        ))
    }
}

/// As [`AllowTarget::parse`] reads it.
impl fmt::Display for AllowTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(network) => network.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}
