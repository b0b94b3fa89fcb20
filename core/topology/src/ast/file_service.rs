//! [`FileService`]: a service of a host.

use std::net::IpAddr;

use wavetank_grammar::Spanned;

use super::FileServer;
use crate::Service;

/// A service, complete but for what hangs on other hosts.
#[derive(Clone)]
pub(crate) struct FileService {
    /// Its servers are empty, and addresses and interfaces of those in the kernel are placeholders.
    pub(crate) service: Service,
    /// Those behind it.
    pub(crate) servers: Vec<FileServer>,
    /// The address of a balancer in the kernel.
    pub(crate) address: Option<Spanned<IpAddr>>,
}
