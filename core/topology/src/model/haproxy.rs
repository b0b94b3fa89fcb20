//! [`Haproxy`]: the settings of a `HAProxy` service.

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

use super::{Backend, BackendCheck, CustomProgram};

/// A `HAProxy` service. It always has a statistics socket at a path that the lab chooses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Haproxy {
    /// The protocol level at which it works.
    pub mode: HaproxyMode,
    /// Whether it terminates TLS on its ports, with a certificate made by the lab.
    pub tls: bool,
    /// Whether it speaks HTTP/2 with clients.
    #[serde(default)]
    pub http2: bool,
    /// Whether it speaks HTTP/2 with its servers, as gRPC needs.
    #[serde(default)]
    pub grpc: bool,
    /// The servers behind it; empty only with a user's own configuration.
    pub servers: Vec<Backend>,
    /// `HAProxy`'s own name of the balancing algorithm: one of [`Haproxy::BALANCE`].
    pub balance: String,
    /// Threads of each process, at least one. With `None`, the CPUs that it may use are divided
    /// among its copies.
    pub threads: Option<u32>,
    /// The CPUs to which its threads are pinned in turn (`cpu-map`), by the machine's numbering.
    /// Empty: not pinned.
    pub pin: Vec<u32>,
    /// Its timeouts.
    pub timeouts: HaproxyTimeouts,
    /// Selection of source addresses and ports for connections to the servers.
    pub sources: HaproxySources,
    /// The health check of the servers; `None` if they are not checked.
    pub check: Option<BackendCheck>,
    /// Port of its statistics page, which no other service uses; `None`: no page. Several copies
    /// share the port, so each page shows the statistics of one copy.
    pub stats: Option<u16>,
    /// The user's own binary and configuration, and directives left out.
    pub own: CustomProgram,
}

impl Haproxy {
    /// The allowed values of `balance`.
    pub const BALANCE: [&'static str; 5] = ["roundrobin", "leastconn", "source", "random", "first"];
}

/// The protocol level at which a `HAProxy` works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HaproxyMode {
    /// It forwards bytes.
    Tcp,
    /// It forwards HTTP requests.
    Http,
}

/// Timeouts of a `HAProxy`. For `None`, the generated configuration chooses a value and explains
/// it.
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

/// Selection of a `HAProxy`'s source address and port for a connection to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HaproxySources {
    /// The kernel chooses.
    Kernel,
    /// Explicit port ranges (`source ADDRESS:1024-65535`) over all addresses of the balancer's
    /// interface to the server. That is 64,512 ports for each address and server, divided among the
    /// copies.
    Ranges,
}
