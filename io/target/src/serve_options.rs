//! [`ServeOptions`]: what the built-in server is asked to be.

use std::net::{Ipv4Addr, SocketAddr};

use wavetank_plan::Nanos;

/// What to serve, where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// Addresses to listen on; port 0 picks a free one.
    pub listen: Vec<SocketAddr>,
    /// Threads; `None`: one per CPU this process may use.
    pub threads: Option<u32>,
    /// Answer unknown paths like `/` instead of 404.
    pub any: bool,
    /// A planted freeze: when after the first request it begins, and how long it lasts.
    pub freeze: Option<(Nanos, Nanos)>,
}

impl Default for ServeOptions {
    /// 127.0.0.1:8080, one thread per CPU, no freeze.
    fn default() -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))],
            threads: None,
            any: false,
            freeze: None,
        }
    }
}
