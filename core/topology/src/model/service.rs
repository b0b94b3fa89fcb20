//! [`Service`]: something that runs on a host.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

use super::{
    Backend, BackendCheck, Command, DirectRouting, Haproxy, Health, Ipvs, KeySpan, Nat, Nginx, Serve,
};

/// A service of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// Its name, unique on its host: the word of its kind (`haproxy`) unless the file gives another.
    pub name: String,
    /// What it is.
    pub kind: ServiceKind,
    /// The TCP ports it listens on, rising; empty only for a [`Command`] that names none.
    pub listen: Vec<u16>,
    /// Processes that share the ports (`SO_REUSEPORT`); 1 for what is no process (direct routing, NAT).
    pub copies: u32,
    /// Client connections at once that it is sized for, all copies together; `None`: the file does not say.
    pub connections: Option<u64>,
    /// When it counts as up.
    pub health: Health,
    /// Where it stands in the file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
    /// Where its keys stand in the file.
    pub keys: Vec<KeySpan>,
}

impl Service {
    /// Where the value of `key` stands in the file; where it does not stand there: the service itself.
    pub fn place_of(&self, key: &str) -> Span {
        self.keys.iter().find(|one| one.key == key).map_or(self.place, |one| one.place)
    }

    /// How it finds out that one of its [`backends`](Self::backends) is dead; `None`: it does not look, or nobody can tell.
    pub fn checks(&self) -> Option<&BackendCheck> {
        match &self.kind {
            ServiceKind::Haproxy(haproxy) => haproxy.check.as_ref(),
            ServiceKind::DirectRouting(direct) => direct.check.as_ref(),
            ServiceKind::Nat(nat) => nat.check.as_ref(),
            ServiceKind::Ipvs(ipvs) => ipvs.check.as_ref(),
            ServiceKind::Nginx(_) | ServiceKind::Serve(_) | ServiceKind::Command(_) => None,
        }
    }

    /// Those it passes connections on to; empty for what answers itself.
    pub fn backends(&self) -> &[Backend] {
        match &self.kind {
            ServiceKind::Nginx(nginx) => nginx.backends(),
            ServiceKind::Haproxy(haproxy) => &haproxy.servers,
            ServiceKind::DirectRouting(direct) => &direct.servers,
            ServiceKind::Nat(nat) => &nat.servers,
            ServiceKind::Ipvs(ipvs) => &ipvs.servers,
            ServiceKind::Serve(_) | ServiceKind::Command(_) => &[],
        }
    }
}

/// What a service is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServiceKind {
    /// nginx: static files, a reverse proxy, or a flash sale in Lua.
    Nginx(Nginx),
    /// `HAProxy`.
    Haproxy(Haproxy),
    /// This program's own target.
    Serve(Serve),
    /// Direct routing by nftables.
    DirectRouting(DirectRouting),
    /// NAT by nftables.
    Nat(Nat),
    /// IPVS through keepalived.
    Ipvs(Ipvs),
    /// Any program, in the foreground.
    Command(Command),
}

impl ServiceKind {
    /// Its word in the file.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Nginx(_) => "nginx",
            Self::Haproxy(_) => "haproxy",
            Self::Serve(_) => "serve",
            Self::DirectRouting(_) => "direct_routing",
            Self::Nat(_) => "nat",
            Self::Ipvs(_) => "ipvs",
            Self::Command(_) => "command",
        }
    }
}
