//! [`Role`]: the purpose of a host; [`Balancing`]: the kind of balancing between clients and
//! servers.

use serde::Serialize;
use wavetank_units::{Code, UserError, did_you_mean};

/// The purpose of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It makes the load.
    Load,
    /// It is between clients and servers.
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
            None => {
                "load generates the load, balancer is in front of the servers, server responds".to_owned()
            }
        };
        let message = format!("`{text}` is not a role: load, balancer or server");
        Err(UserError::usage(Code::ValueUnknown, message, hint))
    }
}

/// The kind of balancing between clients and servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balancing {
    /// Nothing: clients connect to the servers.
    None,
    /// A proxy: for each connection of a client it has one of its own to a server.
    Proxy,
    /// A director that forwards packets (direct routing): the connection ends at the server, and
    /// responses bypass the director.
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
                Code::ValueUnknown,
                format!("`{text}` is not one of none, proxy, direct"),
                match text {
                    "dr" | "dsr" | "lvs" | "ipvs" | "routing" => "direct: responses bypass the balancer",
                    "haproxy" | "nginx" | "tcp" | "http" | "nat" => "proxy: it has connections of its own",
                    _ => "proxy has connections of its own to the servers, direct forwards packets",
                },
            )),
        }
    }
}
