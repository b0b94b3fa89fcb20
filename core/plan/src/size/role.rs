//! [`Role`]: what a host is there for; [`Balancing`]: what stands between clients and servers.

use crate::{UserError, did_you_mean};

/// What a host is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It makes the load.
    Load,
    /// It stands between clients and servers.
    Balancer,
    /// It answers.
    Server,
}

impl Role {
    /// All of them, in the order in which a request meets them.
    pub const ALL: [Self; 3] = [Self::Load, Self::Balancer, Self::Server];

    /// Its word in options and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Balancer => "balancer",
            Self::Server => "server",
        }
    }

    /// Reads its word.
    ///
    /// # Errors
    /// On every other word, with the nearest one as the hint.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        if let Some(role) = Self::ALL.into_iter().find(|role| role.name() == text) {
            return Ok(role);
        }
        let hint = match did_you_mean(text, Self::ALL.map(Self::name)) {
            Some(near) => format!("did you mean {near}?"),
            None => "load makes the load, balancer stands before the servers, server answers".to_owned(),
        };
        let message = format!("`{text}` is no role: load, balancer or server");
        Err(UserError::usage("value_unknown", message, hint))
    }
}

/// What stands between clients and servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balancing {
    /// Nothing: clients connect to the servers.
    None,
    /// A proxy: for each connection of a client it has one of its own to a server.
    Proxy,
    /// A director that passes packets on (direct routing): the connection is the server's, and answers go past it.
    Direct,
}

impl Balancing {
    /// Its word in options and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Proxy => "proxy",
            Self::Direct => "direct",
        }
    }

    /// Reads its word.
    ///
    /// # Errors
    /// On every other word.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        match text {
            "none" => Ok(Self::None),
            "proxy" => Ok(Self::Proxy),
            "direct" => Ok(Self::Direct),
            _ => Err(UserError::usage(
                "value_unknown",
                format!("`{text}` is none of none, proxy, direct"),
                match text {
                    "dr" | "dsr" | "lvs" | "ipvs" | "routing" => "direct: answers go past the balancer",
                    "haproxy" | "nginx" | "tcp" | "http" | "nat" => "proxy: it has connections of its own",
                    _ => "proxy has connections of its own to the servers, direct passes packets on",
                },
            )),
        }
    }
}
