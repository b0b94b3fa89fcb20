//! [`Haproxy`]: what a `HAProxy` does.

use serde::{Deserialize, Serialize};
use wavetank_plan::Nanos;

use super::{Backend, BackendCheck, CustomProgram};

/// A `HAProxy`. It always has a statistics socket, where the lab wants it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Haproxy {
    /// What it understands of what passes.
    pub mode: HaproxyMode,
    /// Whether it ends TLS on its ports, with a certificate that the lab makes.
    pub tls: bool,
    /// Behind it; empty only with a configuration of the user's own.
    pub servers: Vec<Backend>,
    /// How the next server is chosen, in its own words: one of [`Haproxy::BALANCE`].
    pub balance: String,
    /// Threads of each process; `None`: the CPUs it may use, divided among its copies, at least one.
    pub threads: Option<u32>,
    /// CPUs that its threads are pinned to by `cpu-map`, in turn, by the machine's numbers; empty: not pinned.
    pub pin: Vec<u32>,
    /// Its times.
    pub timeouts: HaproxyTimeouts,
    /// How addresses and ports towards the servers are chosen.
    pub sources: HaproxySources,
    /// How it finds out that a server is dead; `None`: it does not look.
    pub check: Option<BackendCheck>,
    /// Port of its statistics page, on which nothing else listens; `None`: no page. Several copies share it, so a page
    /// tells of one of them.
    pub stats: Option<u16>,
    /// The user's own binary, configuration, and directives left out.
    pub own: CustomProgram,
}

impl Haproxy {
    /// Words that `balance` may be.
    pub const BALANCE: [&'static str; 5] = ["roundrobin", "leastconn", "source", "random", "first"];
}

/// What a `HAProxy` understands of what passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HaproxyMode {
    /// Bytes.
    Tcp,
    /// Requests.
    Http,
}

/// Times of a `HAProxy`; `None`: chosen by the generated configuration, which says why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HaproxyTimeouts {
    /// `timeout connect`.
    #[serde(with = "super::serde_with::nanos_option")]
    pub connect: Option<Nanos>,
    /// `timeout client`.
    #[serde(with = "super::serde_with::nanos_option")]
    pub client: Option<Nanos>,
    /// `timeout server`.
    #[serde(with = "super::serde_with::nanos_option")]
    pub server: Option<Nanos>,
    /// `timeout queue`.
    #[serde(with = "super::serde_with::nanos_option")]
    pub queue: Option<Nanos>,
    /// `timeout http-keep-alive`; mode `http` only.
    #[serde(with = "super::serde_with::nanos_option")]
    pub keepalive: Option<Nanos>,
}

/// How a `HAProxy` chooses its address and port towards a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HaproxySources {
    /// The kernel chooses.
    Kernel,
    /// Explicit ranges (`source ADDRESS:1024-65535`), over all addresses of the balancer's interface towards the server:
    /// 64,512 ports for each address and server, of which each copy has a part of its own.
    Ranges,
}
