//! [`FileService`]: a service of a host.

use std::net::IpAddr;

use wavetank_grammar::Spanned;

use super::FileServer;
use crate::Service;

/// A service, complete except for the parts that depend on other hosts.
#[derive(Clone)]
pub(crate) struct FileService {
    /// The service. Its server list is still empty, and addresses and interfaces of in-kernel
    /// balancers are placeholders.
    pub(crate) service: Service,
    /// The servers behind it.
    pub(crate) servers: Vec<FileServer>,
    /// The address of an in-kernel balancer.
    pub(crate) address: Option<Spanned<IpAddr>>,
}
