//! Renders the configuration of nginx: static files, a reverse proxy, or a flash sale in Lua.
//!
//! All paths in it are relative to the folder in which nginx starts (`-p FOLDER/`). One text
//! therefore serves every copy, and none of the machine's files is touched.

mod proxy;
mod sale;

use std::fmt::Write as _;
use wavetank_units::Code;

use wavetank_grammar::Diagnostic;

use super::script::ConfigWriter;
use super::{HostResources, size};
use crate::{Host, Nginx, NginxWork, Rendered, Service};

pub use sale::sale_program;

/// Name of the configuration in the folder of its service.
pub const NGINX_CONFIG: &str = "nginx.conf";
/// Name of the socket for its statistics (`stub_status`) in the folder of its service.
pub const NGINX_SOCKET: &str = "status.sock";
/// Path of the statistics on that socket.
pub const NGINX_STATUS_PATH: &str = "/nginx_status";

/// Connections of a worker if the file does not give their number.
const CONNECTIONS_DEFAULT: u64 = 8_192;
/// Maximum number of worker processes of one nginx.
const WORKERS_MAX: u64 = 512;

/// The text being written and the values from which it is computed.
struct Writer<'a> {
    host: &'a Host,
    service: &'a Service,
    nginx: &'a Nginx,
    means: &'a HostResources,
    /// Worker processes of one copy.
    workers: u64,
    /// Connection slots of one worker, for both sides.
    connections: u64,
    script: ConfigWriter<'a>,
}

/// Renders the configuration of `nginx`, the kind of `service` on `host`. A user's own
/// configuration is returned unchanged.
///
/// # Errors
/// If the open-file limit is too low for the connections of its processes, or if a directive to
/// leave out does not occur in the configuration.
pub fn nginx(
    host: &Host,
    service: &Service,
    nginx: &Nginx,
    means: &HostResources,
) -> Result<Rendered, Diagnostic> {
    if let Some(own) = &nginx.own.config {
        let mut rendered = Rendered::new(NGINX_CONFIG);
        rendered.line(own.text.trim_end_matches('\n'), None);
        return Ok(rendered);
    }
    if service.copies > 1 && matches!(nginx.work, NginxWork::Sale { .. }) {
        let message = "the stock of a flash sale is in the memory of one nginx: two would sell it twice";
        let hint = "workers: 2 share one stock";
        return Err(Diagnostic::error(Code::LabSaleCopies, service.place_of("copies"), message, hint));
    }
    let (workers, connections) = workers(service, nginx, means)?;
    let script = ConfigWriter::new(NGINX_CONFIG, service, &nginx.own.without, ";");
    let writer = Writer { host, service, nginx, means, workers, connections, script };
    writer.write()
}

/// Returns the number of workers and the number of connection slots of each.
fn workers(service: &Service, nginx: &Nginx, means: &HostResources) -> Result<(u64, u64), Diagnostic> {
    let sides = if nginx.backends().is_empty() { 1 } else { 2 };
    let copies = u64::from(service.copies.max(1));
    let cpus = u64::from(means.cpus.max(1));
    let room = size::room(means.files, 1);
    let wanted = nginx.workers.map(u64::from);
    let Some(clients) = service.connections else {
        return Ok((wanted.unwrap_or(cpus), (CONNECTIONS_DEFAULT * sides).min(room).max(64)));
    };
    // Each worker has its own open-file limit, so more workers handle more connections.
    let each = |workers: u64| size::hash_share_max(clients, copies * workers) * sides + 64;
    let fits = |workers: &u64| each(*workers) <= room;
    let workers = match wanted {
        Some(workers) => Some(workers).filter(fits),
        None => (cpus..=WORKERS_MAX).find(fits),
    };
    workers.map(|workers| (workers, each(workers))).ok_or_else(|| {
        let needed = (1..=WORKERS_MAX).find(fits);
        let hint = match needed {
            Some(needed) => format!("workers: {needed}, or a higher limit of open files"),
            None => "fewer connections, more copies, or a higher limit of open files".to_owned(),
        };
        Diagnostic::error(
            Code::LabFilesShort,
            service.place_of("connections"),
            format!(
                "{clients} connections do not fit into nginx's worker processes, which may open {} files each",
                means.files
            ),
            hint,
        )
    })
}

impl Writer<'_> {
    fn write(mut self) -> Result<Rendered, Diagnostic> {
        let Self { service, host, .. } = self;
        self.script.remark(&format!(
            "nginx `{}` on {}, made by wavetank from the topology file. Each directive has its reason above it.",
            service.name, host.name
        ));
        if matches!(self.nginx.work, NginxWork::Sale { .. }) {
            self.lua_modules();
        }
        self.process();
        self.events();
        self.script.open("http {", None);
        self.common();
        match &self.nginx.work {
            NginxWork::Static { pages } => self.files(pages.len()),
            NginxWork::Proxy { servers, keepalive } => self.upstream(servers, *keepalive),
            NginxWork::Sale { stock } => self.sale_memory(*stock),
        }
        self.server();
        self.status();
        self.script.close("}");
        self.script.finish()
    }

    fn process(&mut self) {
        let script = &mut self.script;
        script.needed("daemon off", "The lab supervises the process that it started.", None);
        script.needed("user root", "It reads from the lab's own folder, which belongs to root.", None);
        script.needed("pid nginx.pid", "Not that of the machine's own nginx.", None);
        script.needed("error_log stderr warn", "To the lab's log of this service.", None);
        let workers = if self.nginx.workers.is_some() {
            "As many as the file says.".to_owned()
        } else {
            format!("One for each CPU it may use ({}), more if open files are scarce.", self.means.cpus)
        };
        script.directive_from_key("worker_processes", &self.workers.to_string(), &workers, "workers");
        if let Some(cpus) = &self.host.limits.cpus {
            let why = "Each worker stays where its connections' memory is near.";
            script.tuned(
                "worker_cpu_affinity",
                &format!("auto {}", mask(cpus)),
                why,
                Some(self.host.limits.place),
            );
        }
    }

    fn events(&mut self) {
        let sides =
            if self.nginx.backends().is_empty() { "clients" } else { "clients and as many to servers" };
        let why = match self.service.connections {
            Some(all) => {
                format!(
                    "{all} {sides}, distributed to all workers by a hash, with a margin for its unevenness."
                )
            }
            None => {
                format!("The file sets no number: {CONNECTIONS_DEFAULT} {sides}, or as many as files allow.")
            }
        };
        self.script.open("events {", None);
        let count = self.connections.to_string();
        self.script.directive_from_key("worker_connections", &count, &why, "connections");
        if self.script.is_directive_kept("reuseport") {
            let why = "Each worker has its own queue (reuseport), so emptying it in one go is fair to all.";
            self.script.tuned("multi_accept", "on", why, None);
        }
        self.script.close("}");
    }

    fn common(&mut self) {
        let script = &mut self.script;
        script.block("types { text/html html; text/plain txt; application/json json; }", None);
        script.also("default_type application/octet-stream", None);
        script.tuned("access_log", "off", "A log write for each request would affect the measurement.", None);
        script.tuned("server_tokens", "off", "Fewer bytes in each response.", None);
        let why = "Longer than think times, so that connections stay open between requests.";
        script.tuned("keepalive_timeout", "120s", why, None);
        let why = "By default every 1,000th request closes its connection.";
        script.tuned("keepalive_requests", "100000", why, None);
        let why = "A client that is stuck gets a reset and keeps no memory here.";
        script.tuned("reset_timedout_connection", "on", why, None);
        let why = "Slow readers and an overloaded generator must not look like errors.";
        script.tuned("send_timeout", "30s", why, None);
        script.tuned("client_header_timeout", "30s", "As above.", None);
        script.tuned("client_body_timeout", "30s", "As above.", None);
        script.needed("client_body_temp_path tmp/body", "Not in the machine's own folders.", None);
        for program in ["proxy", "fastcgi", "uwsgi", "scgi"] {
            script.also(&format!("{program}_temp_path tmp/{program}"), None);
        }
    }

    fn files(&mut self, pages: usize) {
        let script = &mut self.script;
        script.tuned("sendfile", "on", "From the page cache to the socket without a copy.", None);
        let why = "Headers and the beginning of a file go out in one packet.";
        script.tuned("tcp_nopush", "on", why, None);
        let hot = pages + 16;
        let why = "Files stay open between requests: saves open, fstat and close for each.";
        script.directive_from_key("open_file_cache", &format!("max={hot} inactive=60s"), why, "pages");
        script.tuned("open_file_cache_valid", "30s", "They do not change while the lab is up.", None);
        script.tuned("open_file_cache_min_uses", "1", "From the first request on.", None);
        script.tuned("open_file_cache_errors", "on", "Missing files are remembered too.", None);
    }

    fn server(&mut self) {
        self.script.open("server {", None);
        self.listen();
        if self.nginx.tls {
            self.tls();
        }
        match &self.nginx.work {
            NginxWork::Static { .. } => {
                let origin = Some(self.service.place_of("pages"));
                self.script.needed("root www", "Small files, made by the lab.", origin);
            }
            NginxWork::Proxy { servers, keepalive } => self.pass(servers, *keepalive),
            NginxWork::Sale { .. } => self.counters(),
        }
        self.script.close("}");
    }

    fn listen(&mut self) {
        let backlog = size::backlog(self.service.connections);
        let mut options = String::new();
        if self.nginx.tls {
            options.push_str(" ssl");
        }
        if self.nginx.http2 {
            options.push_str(" http2");
        }
        // Several copies cannot share a port without it.
        if self.script.is_directive_kept("reuseport") || self.service.copies > 1 {
            options.push_str(" reuseport");
        }
        if self.script.is_directive_kept("backlog") {
            write!(options, " backlog={backlog}").expect("writing to a string does not fail");
        }
        let six =
            self.host.interfaces.iter().flat_map(|one| &one.addresses).any(|(address, _)| address.is_ipv6());
        let origin = Some(self.service.place_of("listen"));
        let why = "A queue for each worker, over which the kernel distributes connections evenly, long enough for a burst.";
        for (index, port) in self.service.listen.iter().enumerate() {
            let address = if six { format!("[::]:{port}") } else { port.to_string() };
            let both = if six { " ipv6only=off" } else { "" };
            let why = if index == 0 { why } else { "" };
            self.script.needed(&format!("listen {address}{options}{both}"), why, origin);
        }
    }

    fn tls(&mut self) {
        let origin = Some(self.service.place_of("tls"));
        let script = &mut self.script;
        script.needed("ssl_certificate server.crt", "Made by the lab at its start.", origin);
        script.also("ssl_certificate_key server.key", origin);
        script.tuned("ssl_protocols", "TLSv1.2 TLSv1.3", "Supported by current clients.", origin);
        let why = "All workers share TLS sessions; 4,000 of them fit into each MiB.";
        script.tuned("ssl_session_cache", "shared:tls:16m", why, origin);
        script.tuned("ssl_session_timeout", "10m", "Longer than most runs.", origin);
        let why = "The first bytes of a response can be read before 16 kB of it have arrived.";
        script.tuned("ssl_buffer_size", "4k", why, origin);
    }

    fn status(&mut self) {
        self.script.open("server {", None);
        let why = "The server's own counters for the lab, without a port and out of reach of any network.";
        self.script.needed(&format!("listen unix:{NGINX_SOCKET}"), why, None);
        self.script.block(&format!("location = {NGINX_STATUS_PATH} {{ stub_status; }}"), None);
        self.script.close("}");
    }
}

/// Returns a CPU mask in nginx's form: one digit for each CPU, the first CPU last.
fn mask(cpus: &[u32]) -> String {
    let last = cpus.iter().copied().max().unwrap_or_default();
    (0..=last).rev().map(|cpu| if cpus.contains(&cpu) { '1' } else { '0' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_read_from_the_right() {
        let check = |cpus: &[u32], expected: &str| assert_eq!(mask(cpus), expected, "{cpus:?}");
        check(&[0], "1");
        check(&[1, 3], "1010");
        check(&[], "0");
    }
}
