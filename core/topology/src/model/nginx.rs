//! [`Nginx`]: the settings of an nginx service.

use serde::{Deserialize, Serialize};

use super::{Backend, CustomProgram};

/// An nginx service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nginx {
    /// Its task. With a user's own configuration it is [`NginxWork::Static`] without pages.
    pub work: NginxWork,
    /// Whether it terminates TLS on its ports, with a certificate made by the lab.
    pub tls: bool,
    /// Whether it speaks HTTP/2 with clients; without TLS it speaks nothing else.
    #[serde(default)]
    pub http2: bool,
    /// Whether it passes gRPC calls to its servers.
    #[serde(default)]
    pub grpc: bool,
    /// Worker processes; `None`: one for each CPU it may use.
    pub workers: Option<u32>,
    /// The user's own binary and configuration, and directives left out.
    pub own: CustomProgram,
}

impl Nginx {
    /// Returns the servers to which it passes requests. The list is empty unless it is a proxy.
    pub fn backends(&self) -> &[Backend] {
        match &self.work {
            NginxWork::Proxy { servers, .. } => servers,
            NginxWork::Static { .. } | NginxWork::Sale { .. } => &[],
        }
    }
}

/// The task of an nginx.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NginxWork {
    /// Serves files. A small page `/` always exists.
    Static {
        /// The files.
        pages: Vec<NginxPage>,
    },
    /// A reverse proxy over HTTP.
    Proxy {
        /// The servers behind it; never empty.
        servers: Vec<Backend>,
        /// Whether connections to the servers are kept open for the next request.
        keepalive: bool,
    },
    /// A flash sale in Lua, with the paths of `wavetank serve`: `/api/seckill`, `/api/login`,
    /// `/api/order`, `/admin/sale`.
    Sale {
        /// Number of items to sell until `/admin/sale` changes it.
        stock: u64,
    },
}

/// A file that nginx serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NginxPage {
    /// Its path, starting with `/`, without `.` and `..`.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}
