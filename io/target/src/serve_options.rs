//! [`ServeOptions`]: the options of the built-in server.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use wavetank_driver::{Features, TlsServer};
use wavetank_plan::{EngineChoice, FileTables};
use wavetank_units::Nanos;

use wavetank_shop::ShopOptions;

/// Default number of connections that a server is prepared for.
const CONNECTIONS: u64 = 10_000;

/// Options of the built-in server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Addresses to listen on; port 0 picks a free one.
    pub listen: Vec<SocketAddr>,
    /// Addresses of raw TCP, which send everything back; port 0 picks a free one.
    pub tcp: Vec<SocketAddr>,
    /// What they send first.
    pub tcp_greeting: Arc<[u8]>,
    /// Addresses of UDP, which send every datagram back; port 0 picks a free one.
    pub udp: Vec<SocketAddr>,
    /// Addresses of HTTP/3, which need TLS; port 0 picks a free one.
    pub http3: Vec<SocketAddr>,
    /// Number of threads; `None` for one per CPU that this process may use.
    pub threads: Option<u32>,
    /// The driver of the sockets. Not [`EngineChoice::Auto`], which the caller must resolve.
    pub engine: EngineChoice,
    /// Kernel features that the driver may use.
    pub features: Features,
    /// Whether the threads share a table of open files or have one each.
    pub files: FileTables,
    /// Connections to prepare for. This is a hint for sizing, not a limit.
    pub connections: u64,
    /// Answer unknown paths like `/` instead of 404.
    pub any: bool,
    /// A freeze: its start after the first request, and its length.
    pub freeze: Option<(Nanos, Nanos)>,
    /// TLS on all addresses.
    pub tls: Option<Arc<TlsServer>>,
    /// The flash sale and the tiers.
    pub shop: ShopOptions,
}

impl Default for ServeOptions {
    /// 127.0.0.1:8080, one thread per CPU on epoll, no freeze, no TLS.
    fn default() -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))],
            tcp: Vec::new(),
            tcp_greeting: Arc::default(),
            udp: Vec::new(),
            http3: Vec::new(),
            threads: None,
            engine: EngineChoice::Epoll,
            features: Features::all(),
            files: FileTables::Shared,
            connections: CONNECTIONS,
            any: false,
            freeze: None,
            tls: None,
            shop: ShopOptions::default(),
        }
    }
}
