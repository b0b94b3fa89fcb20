//! [`Nginx`]: what an nginx does.

use serde::{Deserialize, Serialize};

use super::{Backend, CustomProgram};

/// An nginx.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nginx {
    /// What it does. With a configuration of the user's own it is [`NginxWork::Static`] without pages.
    pub work: NginxWork,
    /// Whether it ends TLS on its ports, with a certificate that the lab makes.
    pub tls: bool,
    /// Worker processes; `None`: one for each CPU it may use.
    pub workers: Option<u32>,
    /// The user's own binary, configuration, and directives left out.
    pub own: CustomProgram,
}

impl Nginx {
    /// Those it passes requests on to; empty unless it is a proxy.
    pub fn backends(&self) -> &[Backend] {
        match &self.work {
            NginxWork::Proxy { servers, .. } => servers,
            NginxWork::Static { .. } | NginxWork::Sale { .. } => &[],
        }
    }
}

/// What an nginx does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NginxWork {
    /// Serves files. There always is a small page `/`.
    Static {
        /// The files.
        pages: Vec<NginxPage>,
    },
    /// A reverse proxy over HTTP.
    Proxy {
        /// Behind it; never empty.
        servers: Vec<Backend>,
        /// Whether connections to them are kept open for the next request.
        keepalive: bool,
    },
    /// A flash sale in Lua, with the paths of `wavetank serve`: `/api/seckill`, `/api/login`, `/api/order`, `/admin/sale`.
    Sale {
        /// Things to sell until `/admin/sale` says otherwise.
        stock: u64,
    },
}

/// A file that nginx serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NginxPage {
    /// Its path, beginning with `/`, without `.` and `..`.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}
