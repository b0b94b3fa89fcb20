//! The part of nginx's configuration that forwards requests.

use super::Writer;
use crate::Backend;

/// Idle connections to servers that a worker keeps if the file does not give the number of clients.
const KEPT_DEFAULT: u64 = 128;

impl Writer<'_> {
    /// Writes the servers to which requests are forwarded.
    pub(super) fn upstream(&mut self, servers: &[Backend], keepalive: bool) {
        let origin = Some(self.service.place_of("servers"));
        let sources = self.sources(servers);
        let script = &mut self.script;
        script.open("upstream servers {", origin);
        let why = "All workers share the list of dead servers and the turn of the next one.";
        script.tuned("zone", "servers 256k", why, origin);
        for (index, server) in servers.iter().enumerate() {
            let why = if index == 0 { "Two failures in two seconds take a server out for two." } else { "" };
            let weight =
                if server.weight == 1 { String::new() } else { format!(" weight={}", server.weight) };
            let place = std::net::SocketAddr::new(server.address, server.port);
            let line = format!("server {place}{weight} max_fails=2 fail_timeout=2s");
            script.needed(&line, why, Some(server.place));
        }
        if keepalive {
            let share = |clients: u64| {
                (clients * 12).div_ceil(10 * self.workers * u64::from(self.service.copies.max(1)))
            };
            let room = (self.connections / 2).max(1);
            let kept = self.service.connections.map_or(KEPT_DEFAULT, share).clamp(1, room);
            let why = "Idle connections that a worker keeps: as many as its clients need and a fifth more. Without\n\
                       them each request needs a new connection, and its port is unavailable for a minute.";
            script.directive_from_key("keepalive", &kept.to_string(), why, "keepalive");
            script.tuned(
                "keepalive_requests",
                "100000",
                "By default every 1,000th request closes its connection.",
                origin,
            );
            script.tuned(
                "keepalive_timeout",
                "60s",
                "Must be shorter than the server's own timeout.",
                origin,
            );
        }
        script.close("}");
        if sources.len() > 1 {
            self.deal_sources(&sources);
        }
    }

    /// Distributes connections to servers over the balancer's addresses.
    fn deal_sources(&mut self, sources: &[String]) {
        let origin = Some(self.service.place_of("servers"));
        let why = "Each of the balancer's addresses has 64,512 ports to each server: all are used equally.";
        self.script.remark(why);
        self.script.open("split_clients \"$remote_addr:$remote_port\" $own_address {", origin);
        let share = 10_000 / sources.len();
        for (index, source) in sources.iter().enumerate() {
            let last = index + 1 == sources.len();
            let part = if last { "*".to_owned() } else { format!("{}.{:02}%", share / 100, share % 100) };
            self.script.also(&format!("{part} {source}"), origin);
        }
        self.script.close("}");
    }

    /// Returns the source addresses to the servers if all servers are on one network. Otherwise the
    /// kernel chooses.
    fn sources(&self, servers: &[Backend]) -> Vec<String> {
        let Some(first) = servers.first() else { return Vec::new() };
        if servers.iter().any(|server| server.interface != first.interface) {
            return Vec::new();
        }
        let addresses = self.host.interfaces.get(first.interface).map_or(&[][..], |one| &one.addresses);
        let alike = addresses.iter().filter(|(address, _)| address.is_ipv6() == first.address.is_ipv6());
        alike.map(|(address, _)| address.to_string()).collect()
    }

    /// Writes the directives that forward requests or gRPC calls.
    pub(super) fn pass(&mut self, servers: &[Backend], keepalive: bool) {
        let origin = Some(self.service.place_of("servers"));
        let several = self.sources(servers).len() > 1;
        let is_grpc = self.nginx.grpc;
        let script = &mut self.script;
        script.open("location / {", origin);
        if is_grpc {
            script.needed("grpc_pass grpc://servers", "HTTP/2 without TLS, as gRPC needs.", origin);
        } else {
            script.needed("proxy_pass http://servers", "", origin);
        }
        if keepalive && !is_grpc {
            let why = "Both are needed for connections to servers to be kept: HTTP/1.1, and no `Connection: close`.";
            script.directive_from_key("proxy_http_version", "1.1", why, "keepalive");
            script.directive_from_key("proxy_set_header Connection", "\"\"", "", "keepalive");
        }
        // Both modules have these directives, with names of their own.
        let module = if is_grpc { "grpc" } else { "proxy" };
        let named = |directive: &str| format!("{module}_{directive}");
        let why = "The name that the client requested.";
        script.tuned(&named("set_header Host"), "$http_host", why, origin);
        if several {
            script.needed(&named("bind $own_address"), "See `split_clients` above.", origin);
        }
        let why =
            "A server that does not answer the connect is dead for this request: the next one is tried.";
        script.tuned(&named("connect_timeout"), "2s", why, origin);
        let why = "Once, and not for requests that change something.";
        script.tuned(&named("next_upstream"), "error timeout", why, origin);
        script.tuned(&named("next_upstream_tries"), "2", "", origin);
        if is_grpc {
            let why = "Longer than the longest silence between two messages of a call.";
            script.tuned("grpc_read_timeout", "120s", why, origin);
            script.tuned("grpc_send_timeout", "120s", "As above.", origin);
        } else {
            script.tuned("proxy_read_timeout", "120s", "Longer than the slowest valid response.", origin);
            script.tuned("proxy_send_timeout", "30s", "As for clients above.", origin);
            script.tuned("proxy_max_temp_file_size", "0", "A response is never buffered on disk.", origin);
        }
        script.close("}");
    }
}
