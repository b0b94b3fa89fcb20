//! The model of a lab. Everything is resolved, and no name or pattern is left to look up.
//!
//! [`Lab`] is the basis of all other parts. Networks and hosts are built from it, services are
//! started from it, and configurations are rendered from it. It is plain data that can be passed to
//! another process of the same program (`serde`). It is not a stored format, and another version of
//! the program need not read it.

mod backend;
mod backend_check;
mod command;
mod direct_routing;
mod fault;
mod haproxy;
mod health;
mod host;
mod host_file;
mod interface;
mod ipvs;
mod key_place;
mod lab;
mod limits;
mod nat;
mod network;
mod nginx;
mod own_program;
mod rendered;
mod role;
mod route;
mod serde_with;
mod serve;
mod service;
mod sysctl;
mod virtual_address;

pub use backend::Backend;
pub use backend_check::BackendCheck;
pub use command::Command;
pub use direct_routing::DirectRouting;
pub use fault::{Fault, FaultKind};
pub use haproxy::{Haproxy, HaproxyMode, HaproxySources, HaproxyTimeouts};
pub use health::{Health, Probe};
pub use host::Host;
pub use host_file::HostFile;
pub use interface::{Interface, Link};
pub use ipvs::{Ipvs, IpvsForward};
pub use key_place::KeySpan;
pub use lab::Lab;
pub use limits::Limits;
pub use nat::Nat;
pub use network::Network;
pub use nginx::{Nginx, NginxPage, NginxWork};
pub use own_program::{CustomConfig, CustomProgram};
pub use rendered::Rendered;
pub use role::Role;
pub use route::Route;
pub use serve::Serve;
pub use service::{Service, ServiceKind};
pub use sysctl::Sysctl;
pub use virtual_address::{VirtualAddress, VirtualPlace};
