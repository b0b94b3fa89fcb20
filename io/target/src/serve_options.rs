//! [`ServeOptions`]: what the built-in server is asked to be.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use wavetank_driver::{Features, TlsServer};
use wavetank_plan::{EngineChoice, FileTables, Nanos};

use crate::shop::ShopOptions;

/// What a server is made ready for if nobody says more.
const CONNECTIONS: u64 = 10_000;

/// What to serve, where.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Addresses to listen on; port 0 picks a free one.
    pub listen: Vec<SocketAddr>,
    /// Threads; `None`: one per CPU this process may use.
    pub threads: Option<u32>,
    /// Which driver runs the sockets; not [`EngineChoice::Auto`], which is resolved by the caller.
    pub engine: EngineChoice,
    /// What of the kernel that driver may use.
    pub features: Features,
    /// Whose table of files each thread fills.
    pub files: FileTables,
    /// Connections to be ready for; a hint for sizing, not a limit.
    pub connections: u64,
    /// Answer unknown paths like `/` instead of 404.
    pub any: bool,
    /// A planted freeze: when after the first request it begins, and how long it lasts.
    pub freeze: Option<(Nanos, Nanos)>,
    /// TLS on all addresses.
    pub tls: Option<Arc<TlsServer>>,
    /// The flash sale and the tiers.
    pub shop: ShopOptions,
}

impl Default for ServeOptions {
    /// 127.0.0.1:8080, one thread per CPU on epoll, no freeze, in the clear.
    fn default() -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))],
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
