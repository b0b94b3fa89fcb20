//! The part of `HAProxy`'s configuration with the servers and the source addresses used to reach
//! them.

use std::net::{IpAddr, SocketAddr};

use super::Writer;
use crate::{Backend, Haproxy, HaproxyMode, HaproxySources, Host};

/// First source port of a range if no service listens above it.
const PORT_FIRST: u32 = 1_024;
/// The port after the last one.
const PORT_END: u32 = 65_536;
/// Maximum weight in `HAProxy`.
const WEIGHT_MAX: u32 = 256;

impl Writer<'_> {
    pub(super) fn backend(&mut self) {
        let Self { script, haproxy, service, .. } = self;
        let why = match haproxy.balance.as_str() {
            "leastconn" => "To the server with the fewest connections: right for connections that last.",
            "source" => "By the client's address.",
            "first" => "To the first server with room.",
            "random" => "To the less loaded of two random servers.",
            _ => "In turn, by weight.",
        };
        script.directive_from_key("balance", &haproxy.balance, why, "balance");
        if let Some(check) = &haproxy.check {
            let origin = Some(service.place_of("check"));
            if let Some(path) = &check.path {
                script.tuned(
                    "option httpchk",
                    &format!("GET {path}"),
                    "A server is alive if it answers 2xx or 3xx.",
                    origin,
                );
            }
            let every = (check.every.0 / 1_000_000).max(1);
            let line =
                format!("default-server check inter {every}ms fall {} rise {}", check.fall, check.rise);
            script.needed(
                &line,
                "A dead server gets no more connections; one that is back gets its share again.",
                origin,
            );
        }
        if haproxy.mode == HaproxyMode::Tcp && haproxy.check.is_some() {
            let why = "Connections to a dead server are closed, so that clients notice and reconnect.";
            script.tuned(
                "default-server",
                "on-marked-down shutdown-sessions",
                why,
                Some(service.place_of("check")),
            );
        }
        let servers = self.haproxy.servers.clone();
        match self.haproxy.sources {
            HaproxySources::Kernel => self.plain(&servers),
            HaproxySources::Ranges => self.ranged(&servers),
        }
    }

    fn plain(&mut self, servers: &[Backend]) {
        for server in servers {
            let line = self.server_line(server, &server_name(server, servers), None);
            self.script.needed(&line, "", Some(server.place));
        }
    }

    /// Writes a line for each pair of server and own address, each with its own source ports.
    fn ranged(&mut self, servers: &[Backend]) {
        let (first, last) = self.ports();
        let why = format!(
            "Ports {first} to {last} of each source address belong to this process for each server: it takes the next\n\
             free one itself, while the kernel would search through all that are in use."
        );
        self.script.remark(&why);
        for server in servers {
            let name = server_name(server, servers);
            for (index, source) in sources(self.host, server).iter().enumerate() {
                let name = line_name(&name, index);
                let range = format!("{}-{last}", SocketAddr::new(*source, first));
                let line = self.server_line(server, &name, Some(&range));
                self.script.needed(&line, "", Some(server.place));
            }
        }
    }

    /// Returns the first and last source port of this copy. The range starts above the ports on
    /// which the host listens, if at least half of the ports remain. `HAProxy` would otherwise try
    /// such a port in vain again and again.
    fn ports(&self) -> (u16, u16) {
        let listening = self.host.services.iter().flat_map(|service| &service.listen).copied();
        let own = self.haproxy.stats.into_iter();
        let above = listening.chain(own).max().map_or(PORT_FIRST, |port| u32::from(port) + 1);
        let first = if above <= PORT_END / 2 { above.max(PORT_FIRST) } else { PORT_FIRST };
        let each = (PORT_END - first) / self.service.copies.max(1);
        let own = first + each * self.copy;
        let port = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
        (port(own), port(own + each.max(1) - 1))
    }

    fn server_line(&self, server: &Backend, name: &str, source: Option<&str>) -> String {
        let to = SocketAddr::new(server.address, server.port);
        let weight = match server.weight.min(WEIGHT_MAX) {
            1 => String::new(),
            weight => format!(" weight {weight}"),
        };
        let protocol = if self.haproxy.grpc { " proto h2" } else { "" };
        let source = source.map_or_else(String::new, |range| format!(" source {range}"));
        format!("server {name} {to}{protocol}{weight}{source}")
    }
}

/// The backend that contains all servers.
pub const HAPROXY_BACKEND: &str = "servers";

/// Returns the names by which `HAProxy` knows the server with this index in [`Haproxy::servers`].
/// There is one name, or one for each own address if the file requests port ranges. The list is
/// empty if the server does not exist.
pub fn haproxy_servers(host: &Host, haproxy: &Haproxy, server: usize) -> Vec<String> {
    let Some(server) = haproxy.servers.get(server) else { return Vec::new() };
    let name = server_name(server, &haproxy.servers);
    let lines = match haproxy.sources {
        HaproxySources::Kernel => 1,
        HaproxySources::Ranges => sources(host, server).len(),
    };
    (0..lines).map(|line| line_name(&name, line)).collect()
}

/// Returns the source addresses from which the server is reached.
fn sources(host: &Host, server: &Backend) -> Vec<IpAddr> {
    let interface = host.interfaces.get(server.interface);
    let addresses = interface.map_or(&[][..], |one| &one.addresses).iter().map(|(address, _)| *address);
    addresses.filter(|address| address.is_ipv6() == server.address.is_ipv6()).collect()
}

/// Returns the name of a server's line with index `line`.
fn line_name(server: &str, line: usize) -> String {
    if line == 0 { server.to_owned() } else { format!("{server}-{}", line + 1) }
}

/// Returns the server's name in statistics: the host name, with the port if the host occurs twice.
fn server_name(server: &Backend, all: &[Backend]) -> String {
    let twice = all.iter().filter(|other| other.name == server.name).count() > 1;
    if twice { format!("{}-{}", server.name, server.port) } else { server.name.clone() }
}
