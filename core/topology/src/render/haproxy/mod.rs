//! Renders the configuration of `HAProxy`, for TCP or HTTP. Every copy has its own configuration.
//! Copies share the port, but not the statistics socket and the source ports to the servers.
//!
//! All paths in it are relative to the folder in which `HAProxy` starts, so none of the machine's
//! files is touched.

mod servers;

use std::fmt::Write as _;

use wavetank_grammar::Diagnostic;
use wavetank_units::{Code, Nanos};

use super::script::ConfigWriter;
use super::{HostResources, size};
use crate::{Haproxy, HaproxyMode, Host, Rendered, Service};

pub use servers::{HAPROXY_BACKEND, haproxy_servers};

/// Name of the configuration in the folder of its copy.
pub const HAPROXY_CONFIG: &str = "haproxy.cfg";
/// Name of the statistics socket in the folder of its copy.
pub const HAPROXY_SOCKET: &str = "stats.sock";

/// Open files of each client connection: its own, and the one to a server.
const FILES_EACH: u64 = 2;

/// Returns the number of client connections that one `HAProxy` can have with an open-file limit of
/// `files`.
pub const fn haproxy_room(files: u64) -> u64 {
    size::room(files, FILES_EACH)
}

struct Writer<'a> {
    host: &'a Host,
    service: &'a Service,
    haproxy: &'a Haproxy,
    means: &'a HostResources,
    /// Index of this copy.
    copy: u32,
    /// Maximum number of client connections of this copy.
    connections: u64,
    threads: u32,
    script: ConfigWriter<'a>,
}

/// Renders the configuration of copy `copy` (from 0) of `haproxy`, the kind of `service` on `host`.
/// A user's own configuration is returned unchanged for every copy.
///
/// # Errors
/// If the open-file limit is too low for the connections of its copies, or if a directive to leave
/// out does not occur in the configuration.
pub fn haproxy(
    host: &Host,
    service: &Service,
    haproxy: &Haproxy,
    copy: u32,
    means: &HostResources,
) -> Result<Rendered, Diagnostic> {
    if let Some(own) = &haproxy.own.config {
        let mut rendered = Rendered::new(HAPROXY_CONFIG);
        rendered.line(own.text.trim_end_matches('\n'), None);
        return Ok(rendered);
    }
    let connections = connections(service, means)?;
    let threads = haproxy.threads.unwrap_or(means.cpus / service.copies.max(1)).max(1);
    let script = ConfigWriter::new(HAPROXY_CONFIG, service, &haproxy.own.without, "");
    let writer = Writer { host, service, haproxy, means, copy, connections, threads, script };
    writer.write()
}

/// Returns the number of client connections of one copy.
fn connections(service: &Service, means: &HostResources) -> Result<u64, Diagnostic> {
    let room = haproxy_room(means.files);
    let Some(all) = service.connections else { return Ok(room.max(1)) };
    let share = |copies: u64| size::hash_share_max(all, copies) + 64;
    let wanted = share(u64::from(service.copies.max(1)));
    if wanted <= room {
        return Ok(wanted);
    }
    let enough = (1..=1_024).find(|copies| share(*copies) <= room);
    let hint = match enough {
        Some(copies) => format!("copies: {copies}, which share the port"),
        None => "fewer connections, or a higher limit of open files".to_owned(),
    };
    Err(Diagnostic::error(
        Code::LabFilesShort,
        service.place_of("connections"),
        format!(
            "{all} connections do not fit into {}: one HAProxy may open {} files here, which is {room} connections \
             from client to server",
            if service.copies > 1 {
                format!("{} processes", service.copies)
            } else {
                "one process".to_owned()
            },
            means.files
        ),
        hint,
    ))
}

impl Writer<'_> {
    fn write(mut self) -> Result<Rendered, Diagnostic> {
        let Self { service, host, haproxy, .. } = self;
        let copy = if service.copies > 1 {
            format!(" ({} of {})", self.copy + 1, service.copies)
        } else {
            String::new()
        };
        self.script.remark(&format!(
            "HAProxy `{}`{copy} on {}, made by wavetank from the topology file. Each directive has its reason above it.",
            service.name, host.name
        ));
        self.script.open("global", None);
        self.global();
        self.script.close("");
        self.script.open("defaults", None);
        self.defaults();
        self.script.close("");
        self.script.open("frontend in", Some(service.place));
        self.frontend();
        self.script.close("");
        self.script.open(&format!("backend {HAPROXY_BACKEND}"), Some(service.place));
        self.backend();
        self.script.close("");
        if let Some(port) = haproxy.stats {
            self.script.open("frontend page", Some(service.place_of("stats")));
            self.page(port);
            self.script.close("");
        }
        self.script.finish()
    }

    fn global(&mut self) {
        let most = haproxy_room(self.means.files);
        let why = match self.service.connections {
            Some(all) => format!(
                "{all} connections, distributed to {} process(es) by a hash, with a margin for its unevenness.\nTwo files \
                 each: with {} files a process has room for {most}.",
                self.service.copies, self.means.files
            ),
            None => format!(
                "As many as {} files allow: two for each connection, plus some for HAProxy itself. Copies allow more.",
                self.means.files
            ),
        };
        let maxconn = self.connections.to_string();
        let threads = self.threads.to_string();
        let Self { script, haproxy, service, copy, .. } = self;
        script.directive_from_key("maxconn", &maxconn, &why, "connections");
        let files = self.means.files.to_string();
        script.tuned("fd-hard-limit", &files, "It cannot have more files than the host allows.", None);
        let why = if haproxy.threads.is_some() {
            "As the file says."
        } else {
            "The CPUs it may use, divided among its copies."
        };
        script.directive_from_key("nbthread", &threads, why, "threads");
        for thread in 0..self.threads {
            let turn = u64::from(*copy) * u64::from(self.threads) + u64::from(thread);
            let Some(cpu) =
                usize::try_from(turn).ok().and_then(|turn| haproxy.pin.get(turn % haproxy.pin.len().max(1)))
            else {
                break;
            };
            let why =
                if thread == 0 { "Each thread stays where its connections' memory is near." } else { "" };
            script.directive_from_key("cpu-map", &format!("1/{} {cpu}", thread + 1), why, "pin");
        }
        let why =
            "Counters and states are read here. Only root may use it, since it can also take servers out.";
        script.needed(&format!("stats socket unix@{HAPROXY_SOCKET} mode 600 level admin"), why, None);
        script.tuned("stats timeout", "1h", "A client that reads every second keeps its connection.", None);
        if haproxy.tls {
            let origin = Some(service.place_of("tls"));
            let options = "ssl-min-ver TLSv1.2";
            script.tuned("ssl-default-bind-options", options, "Supported by current clients.", origin);
        }
    }

    fn defaults(&mut self) {
        let Self { script, haproxy, service, .. } = self;
        let http = haproxy.mode == HaproxyMode::Http;
        script.needed(if http { "mode http" } else { "mode tcp" }, "", Some(service.place_of("mode")));
        script.tuned("no", "log", "A log datagram for each connection would affect the measurement.", None);
        let maxconn = self.connections.to_string();
        let why = "By default a share of the process's limit; here the single frontend may use all of it.";
        script.directive_from_key("maxconn", &maxconn, why, "connections");
        let times = haproxy.timeouts;
        let mut timeout = |name: &str, key: &str, asked: Option<Nanos>, default_ms: i64, why: &str| {
            let ms = asked.map_or(default_ms, |asked| (asked.0 / 1_000_000).max(1));
            let why = if asked.is_some() { "As the file says." } else { why };
            script.directive_from_key(&format!("timeout {name}"), &format!("{ms}ms"), why, key);
        };
        let slow = "Longer than the slowest response and than think times: a shorter one ends connections that are intended\n\
                    to be silent.";
        timeout(
            "connect",
            "timeouts.connect",
            times.connect,
            3_000,
            "Enough for three attempts of the kernel; then the server is dead.",
        );
        timeout("client", "timeouts.client", times.client, 120_000, slow);
        timeout("server", "timeouts.server", times.server, 120_000, "As for clients.");
        timeout(
            "queue",
            "timeouts.queue",
            times.queue,
            5_000,
            "A request that waits longer for a server is answered with 503.",
        );
        if http {
            let why = "Users think between two requests.";
            timeout("http-keep-alive", "timeouts.keepalive", times.keepalive, 120_000, why);
            timeout(
                "http-request",
                "",
                None,
                30_000,
                "A request that takes longer to arrive is an attack or a mistake.",
            );
        }
        if let Some(check) = &haproxy.check {
            timeout("check", "check", Some(check.timeout), 1_000, "");
        }
        script.tuned("retries", "2", "A refused connection is tried again at another server.", None);
        script.tuned("option redispatch", "1", "Already the first retry goes to another server.", None);
        if http {
            let why = "Idle connections to servers are used for the next request, but a client's first request never gets one\n\
                       that the server may just be closing.";
            script.tuned("http-reuse", "safe", why, None);
        }
    }

    fn frontend(&mut self) {
        let mut options = String::new();
        if self.haproxy.tls {
            options.push_str(" ssl crt server.pem");
            if self.haproxy.http2 {
                options.push_str(" alpn h2,http/1.1");
            }
        }
        if self.script.is_directive_kept("backlog") {
            let backlog = size::backlog(self.service.connections);
            write!(options, " backlog {backlog}").expect("writing to a string does not fail");
        }
        // With one thread there is only one queue.
        if self.threads > 1 && self.script.is_directive_kept("shards") {
            options.push_str(" shards by-thread");
        }
        let mut why =
            "A queue for each thread and copy, long enough for a burst; the kernel distributes connections.";
        for port in self.service.listen.clone() {
            let line = format!("bind {}{options}", self.bind_address(port));
            self.script.needed(&line, why, Some(self.service.place_of("listen")));
            why = "";
        }
        self.script.needed("default_backend servers", "", Some(self.service.place_of("servers")));
    }

    fn page(&mut self, port: u16) {
        let line = format!("bind {}", self.bind_address(port));
        let origin = Some(self.service.place_of("stats"));
        let script = &mut self.script;
        script.needed(&line, "The statistics as a page.", origin);
        script.also("mode http", origin);
        script.also("stats enable", origin);
        script.also("stats uri /", origin);
        script.tuned("stats refresh", "2s", "Reloads the page while the lab runs.", origin);
    }

    /// Returns the wildcard address of the host, for both families if the host has both.
    fn bind_address(&self, port: u16) -> String {
        let six =
            self.host.interfaces.iter().flat_map(|one| &one.addresses).any(|(address, _)| address.is_ipv6());
        if six { format!(":::{port} v4v6") } else { format!(":{port}") }
    }
}
