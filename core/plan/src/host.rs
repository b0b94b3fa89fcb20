//! [`HostFacts`]: what resolving a plan must know about this host.

use std::net::{IpAddr, SocketAddr};

use wavetank_units::{Ports, unix_path};

use crate::{HostLimits, SocketSupport, THIS_HOST, matches_host};

/// Facts about the host that sends the load, gathered by the caller before resolving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFacts {
    /// CPUs this process may run on.
    pub cpus: Vec<u32>,
    /// Memory that is available without swapping, in bytes (the smaller of the host's and the
    /// cgroup's).
    pub memory_available_bytes: u64,
    /// Files this process may open: the hard limit, to which the soft one is raised.
    pub files_max: u64,
    /// Socket features that the kernel allows this process.
    pub sockets: SocketSupport,
    /// Other kernel limits.
    pub limits: HostLimits,
    /// First and last port the kernel picks from for outgoing connections.
    pub port_range: (u16, u16),
    /// Ports that the load may bind for outgoing connections: those of `port_range`, except
    /// reserved ports and ports of listeners.
    pub ports: Ports,
    /// Addresses of this host's interfaces.
    pub addresses: Vec<IpAddr>,
    /// Networks routed as local (e.g. 127.0.0.0/8): any address inside can be bound.
    pub local_networks: Vec<(IpAddr, u8)>,
    /// Kernel release, e.g. `6.18.44`.
    pub kernel: String,
    /// Host name.
    pub hostname: String,
    /// CPU model, as the kernel names it.
    pub cpu_model: String,
    /// The hosts that send the load.
    pub origin: LoadOrigin,
    /// Names of hosts under test that are observed in addition.
    pub observed_hosts: Vec<String>,
    /// Names of the hosts of a fleet, which their agents sample.
    pub agent_hosts: Vec<String>,
}

/// The hosts that send the load, each with its own addresses and ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadOrigin {
    /// This host.
    #[default]
    ThisHost,
    /// Hosts of a lab on this machine.
    Lab {
        /// Their number.
        hosts: u32,
    },
    /// Hosts of a fleet.
    Fleet {
        /// Their number.
        hosts: u32,
    },
}

impl HostFacts {
    /// Returns a host with this number of CPUs, enough memory and files for everything, Linux's
    /// default port range, and no other restrictions. Plans use it where the host does not matter,
    /// as in tests.
    pub fn for_tests(cpus: u32) -> Self {
        let port_range = (32_768, 60_999);
        Self {
            cpus: (0..cpus).collect(),
            memory_available_bytes: 1 << 40,
            files_max: 1 << 20,
            sockets: SocketSupport::plain(),
            limits: HostLimits::default(),
            port_range,
            ports: Ports::range(port_range.0, port_range.1),
            addresses: Vec::new(),
            local_networks: Vec::new(),
            kernel: String::new(),
            hostname: String::new(),
            cpu_model: String::new(),
            origin: LoadOrigin::ThisHost,
            observed_hosts: Vec::new(),
            agent_hosts: Vec::new(),
        }
    }

    /// Returns whether all of `targets` are addresses of this host, so that it holds both ends of
    /// each connection. In a lab it always does, with a fleet never.
    pub fn is_target(&self, targets: &[SocketAddr]) -> bool {
        match self.origin {
            LoadOrigin::Lab { .. } => return true,
            LoadOrigin::Fleet { .. } => return false,
            LoadOrigin::ThisHost => {}
        }
        let own = |target: &SocketAddr| {
            let ip = target.ip().to_canonical();
            ip.is_loopback() || self.addresses.contains(&ip) || unix_path(*target).is_some()
        };
        targets.iter().all(own)
    }

    /// Returns the number of hosts that send the load; at least 1.
    pub fn load_host_count(&self) -> u32 {
        match self.origin {
            LoadOrigin::ThisHost => 1,
            LoadOrigin::Lab { hosts } | LoadOrigin::Fleet { hosts } => hosts.max(1),
        }
    }

    /// Returns whether hosts of a fleet send the load.
    pub const fn is_fleet(&self) -> bool {
        matches!(self.origin, LoadOrigin::Fleet { .. })
    }

    /// Returns whether hosts of a lab send the load.
    pub const fn is_lab(&self) -> bool {
        matches!(self.origin, LoadOrigin::Lab { .. })
    }

    /// Returns whether a run samples hosts with names that match `pattern`. A lab's hosts are not
    /// known here, and its sampler checks them.
    pub fn samples_host(&self, pattern: &str) -> bool {
        let own = match self.origin {
            LoadOrigin::ThisHost => matches_host(pattern, THIS_HOST),
            LoadOrigin::Lab { .. } => true,
            LoadOrigin::Fleet { .. } => self.agent_hosts.iter().any(|name| matches_host(pattern, name)),
        };
        own || self.observed_hosts.iter().any(|name| matches_host(pattern, name))
    }

    /// Returns the ports of the tuples that a load with source addresses uses. Some ports are left
    /// to the kernel's own choice ([`Ports::for_tuples`]). The plan counts these ports, and the
    /// engine binds them.
    pub fn tuple_ports(&self) -> Ports {
        self.ports.for_tuples(self.port_range.0)
    }
}
