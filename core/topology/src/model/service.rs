//! [`Service`]: a program or an in-kernel balancer of a host.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

use super::{
    Backend, BackendCheck, Command, DirectRouting, Haproxy, Health, Ipvs, KeySpan, Nat, Nginx, Serve,
};

/// A service of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// Its name, unique on its host. The default is the name of its kind (`haproxy`).
    pub name: String,
    /// Its kind.
    pub kind: ServiceKind,
    /// The TCP ports on which it listens, in ascending order. Empty only for a [`Command`] that
    /// names none.
    pub listen: Vec<u16>,
    /// Number of processes that share the ports (`SO_REUSEPORT`). It is 1 for direct routing and
    /// NAT, which are not processes.
    pub copies: u32,
    /// Number of simultaneous client connections for which it is sized, over all copies. `None`:
    /// not given in the file.
    pub connections: Option<u64>,
    /// The condition under which it counts as up.
    pub health: Health,
    /// Position in the file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
    /// Positions of its keys in the file.
    pub keys: Vec<KeySpan>,
}

impl Service {
    /// Returns the position of the value of `key` in the file. If the key is missing, this is the
    /// position of the service.
    pub fn place_of(&self, key: &str) -> Span {
        self.keys.iter().find(|one| one.key == key).map_or(self.place, |one| one.place)
    }

    /// Returns the health check of its [`backends`](Self::backends). `None` if it does not check
    /// them, or if this is unknown.
    pub fn checks(&self) -> Option<&BackendCheck> {
        match &self.kind {
            ServiceKind::Haproxy(haproxy) => haproxy.check.as_ref(),
            ServiceKind::DirectRouting(direct) => direct.check.as_ref(),
            ServiceKind::Nat(nat) => nat.check.as_ref(),
            ServiceKind::Ipvs(ipvs) => ipvs.check.as_ref(),
            ServiceKind::Nginx(_) | ServiceKind::Serve(_) | ServiceKind::Command(_) => None,
        }
    }

    /// Returns the servers to which it passes connections. The list is empty for a service that
    /// answers itself.
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

/// The kind of a service.
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
    /// Returns the name of the kind in the file.
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
