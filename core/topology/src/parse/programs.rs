//! Services that are programs: serve, nginx, `HAProxy`, any command.

use wavetank_grammar::{Entry, Node};
use wavetank_units::Code;

use super::ports::is_path;
use super::{Keys, Reader, TreeReader as _};
use crate::ast::FileService;
use crate::grammar::MapName;
use crate::{
    Command, Haproxy, HaproxyMode, HaproxySources, HaproxyTimeouts, Nginx, NginxPage, NginxWork, Probe,
    Serve, ServiceKind,
};

/// Maximum number of threads or worker processes of one process.
const THREADS_MAX: u32 = 256;
/// A thread group of `HAProxy` has at most 64 threads, and generated configurations have one group.
const HAPROXY_THREADS_MAX: u32 = 64;
/// Maximum size of a page of nginx, and of all pages of one nginx together. They are written before
/// it starts.
const PAGE_BYTES_MAX: u64 = 1 << 30;
const PAGES_MAX: usize = 1_000;

/// Options of `wavetank serve` that have their own keys in the file.
const KEYS_OF_SERVE: [(&str, &str); 5] = [
    ("--listen", "listen"),
    ("--connections", "connections"),
    ("--threads", "threads"),
    ("--any", "any"),
    ("--tls", "tls"),
];

impl Reader<'_> {
    pub(super) fn serve(&mut self, node: &Node) -> Option<FileService> {
        let mut keys = self.open(node, MapName::Serve)?;
        let common = self.common(&mut keys, MapName::Serve);
        let tls = keys.take("tls").map_or(Some(false), |node| self.bool(node));
        let threads = keys.take("threads").map(|node| self.count_up_to(node, THREADS_MAX, "threads"));
        let any = keys.take("any").map_or(Some(false), |node| self.bool(node));
        let options = keys.take("options").map(|node| self.serve_options(node)).unwrap_or_default();
        let listen = common.as_ref().map(|common| common.listen.clone()).unwrap_or_default();
        let health = self.health(keys.take("health"), &listen);
        let threads = threads.map_or(Some(None), |few| few.map(|few| Some(few.value)));
        let serve = Serve { tls: tls?, threads: threads?, any: any?, options };
        let service = common?.service(&keys, ServiceKind::Serve(serve), health?, Vec::new());
        keys.finish();
        Some(service)
    }

    fn serve_options(&mut self, node: &Node) -> Vec<String> {
        let words = self.each_listed(node, "options", |reader, item| reader.clean_text(item, "an option"));
        for word in &words {
            let name = word.value.split('=').next().unwrap_or_default();
            if let Some((option, key)) = KEYS_OF_SERVE.iter().find(|(option, _)| *option == name) {
                let message = format!("`{option}` has its own key");
                self.fail::<()>(
                    Code::LabKeyConflict,
                    word.place,
                    message,
                    format!("set {key}: … next to options"),
                );
            }
        }
        words.into_iter().map(|word| word.value).collect()
    }

    pub(super) fn nginx(&mut self, node: &Node) -> Option<FileService> {
        let mut keys = self.open(node, MapName::Nginx)?;
        self.not_with_config(
            &keys,
            &["pages", "servers", "keepalive", "sale", "workers", "tls", "http2", "grpc", "connections"],
        );
        let common = self.common(&mut keys, MapName::Nginx);
        let (pages, proxied, sale) = (keys.entry("pages"), keys.entry("servers"), keys.entry("sale"));
        let keepalive = keys.entry("keepalive");
        self.one_work([pages, proxied, sale]);
        if let Some(entry) = keepalive.filter(|_| proxied.is_none()) {
            let message = "`keepalive` applies to servers behind nginx, but there are none";
            self.fail::<()>(Code::LabKeyConflict, entry.place, message, "use keepalive: … next to servers");
        }
        if let Some(entry) = keys.entry("grpc").filter(|_| proxied.is_none()) {
            let message = "`grpc` applies to servers behind nginx, but there are none";
            self.fail::<()>(Code::LabKeyConflict, entry.place, message, "use grpc: … next to servers");
        }
        let servers = proxied.map(|entry| self.servers(&entry.value)).unwrap_or_default();
        let keepalive = keepalive.map_or(Some(true), |entry| self.bool(&entry.value));
        let work = match (proxied, sale) {
            (Some(_), _) => NginxWork::Proxy { servers: Vec::new(), keepalive: keepalive? },
            (None, Some(entry)) => NginxWork::Sale { stock: self.count(&entry.value)?.value },
            (None, None) => {
                NginxWork::Static { pages: pages.map(|entry| self.pages(&entry.value)).unwrap_or_default() }
            }
        };
        let tls = keys.take("tls").map_or(Some(false), |node| self.bool(node));
        let (http2, grpc) = self.http2(&mut keys);
        let workers = keys.take("workers").map(|node| self.count_up_to(node, THREADS_MAX, "workers"));
        let workers = workers.map_or(Some(None), |few| few.map(|few| Some(few.value)));
        let own = self.own_program(&mut keys, MapName::Nginx);
        let listen = common.as_ref().map(|common| common.listen.clone()).unwrap_or_default();
        let health = self.health(keys.take("health"), &listen);
        let asks_http1 = health.as_ref().is_some_and(|health| matches!(health.probe, Probe::Http { .. }));
        if http2? && !tls? && asks_http1 {
            let message =
                "the health check uses HTTP/1.1, which nginx does not speak next to HTTP/2 without TLS";
            let hint = "leave http out of health, or set tls: true";
            self.fail::<()>(Code::LabKeyConflict, keys.key_span("health"), message, hint);
        }
        let nginx = Nginx { work, tls: tls?, http2: http2?, grpc: grpc?, workers: workers?, own: own? };
        let service = common?.service(&keys, ServiceKind::Nginx(nginx), health?, servers);
        keys.finish();
        Some(service)
    }

    /// Reads whether a program speaks HTTP/2 with its clients, and whether it passes gRPC calls,
    /// which need it.
    fn http2(&mut self, keys: &mut Keys<'_>) -> (Option<bool>, Option<bool>) {
        let [http2, grpc] =
            ["http2", "grpc"].map(|key| keys.take(key).map_or(Some(false), |node| self.bool(node)));
        (http2.map(|http2| http2 || grpc == Some(true)), grpc)
    }

    /// Checks that an nginx has a single task: static files, a proxy or a sale.
    fn one_work(&mut self, works: [Option<&Entry>; 3]) {
        let mut said = works.into_iter().flatten();
        if let (Some(first), Some(second)) = (said.next(), said.next()) {
            let message = format!("`{}` and `{}` exclude each other in one nginx", first.key, second.key);
            self.fail::<()>(
                Code::LabKeyConflict,
                second.place,
                message,
                "use two services with their own ports",
            );
        }
    }

    fn pages(&mut self, node: &Node) -> Vec<NginxPage> {
        let entries = self.entries(node, "pages");
        if let Some(beyond) = entries.get(PAGES_MAX) {
            let message = format!("{} pages", entries.len());
            self.fail::<()>(Code::LabTooMany, beyond.place, message, format!("at most {PAGES_MAX}"));
        }
        let mut all: Vec<NginxPage> = Vec::new();
        for entry in entries.iter().take(PAGES_MAX) {
            let path = entry.key.as_str();
            let Some(size) = self.size(&entry.value) else { continue };
            let below = |other: &NginxPage| {
                path.strip_prefix(&other.path).is_some_and(|rest| rest.starts_with('/'))
                    || other.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
            };
            let sum: u64 = all.iter().map(|page| page.bytes).sum();
            if !is_path(path) || path.contains(['?', '%']) || path.contains("//") || path.contains("/.") {
                let message = format!("`{path}` is not a path of a file");
                self.fail::<()>(Code::LabValue, entry.place, message, "it begins with /: /1k.html");
            } else if path.ends_with('/') && path != "/" {
                self.fail::<()>(
                    Code::LabValue,
                    entry.place,
                    format!("`{path}` is a folder"),
                    "/folder/page.html",
                );
            } else if all.iter().any(below) && path != "/" {
                let message = format!("`{path}` is a file and a folder of another page");
                self.fail::<()>(Code::LabValue, entry.place, message, "use another name for one of the two");
            } else if sum + size.value > PAGE_BYTES_MAX {
                let message = "these pages are too large";
                self.fail::<()>(Code::LabTooMany, size.place, message, "at most 1GiB in total");
            } else {
                all.push(NginxPage { path: path.to_owned(), bytes: size.value });
            }
        }
        all
    }

    pub(super) fn haproxy(&mut self, node: &Node) -> Option<FileService> {
        let mut keys = self.open(node, MapName::Haproxy)?;
        let shaping = [
            "mode",
            "servers",
            "connections",
            "tls",
            "http2",
            "grpc",
            "balance",
            "threads",
            "pin",
            "timeouts",
            "source_ports",
            "check",
            "stats",
        ];
        self.not_with_config(&keys, &shaping);
        let common = self.common(&mut keys, MapName::Haproxy);
        let modes = [("tcp", HaproxyMode::Tcp), ("http", HaproxyMode::Http)];
        let mode =
            keys.take("mode").map_or(Some(HaproxyMode::Http), |node| self.one_of(node, "mode", &modes));
        let own = self.own_program(&mut keys, MapName::Haproxy);
        let servers = if keys.has("config") { keys.take("servers") } else { keys.require(self, "servers") };
        let servers = servers.map(|node| self.servers(node)).unwrap_or_default();
        let tls = keys.take("tls").map_or(Some(false), |node| self.bool(node));
        let (http2, grpc) = self.http2(&mut keys);
        if mode == Some(HaproxyMode::Tcp) && http2 == Some(true) {
            let key = if keys.has("http2") { "http2" } else { "grpc" };
            let message =
                format!("`{key}` applies to mode http, but mode tcp forwards bytes of any protocol");
            self.fail::<()>(Code::LabKeyConflict, keys.key_span(key), message, "mode: http, or leave it out");
        }
        let balances = Haproxy::BALANCE.map(|word| (word, word));
        let balance =
            keys.take("balance").map_or(Some("roundrobin"), |node| self.one_of(node, "balance", &balances));
        let threads = keys.take("threads").map(|node| self.count_up_to(node, HAPROXY_THREADS_MAX, "threads"));
        let threads = threads.map_or(Some(None), |few| few.map(|few| Some(few.value)));
        let pin = keys.take("pin").map_or(Some(Vec::new()), |node| self.cpus(node));
        let timeouts = keys.take("timeouts").map(|node| self.timeouts(node, mode)).unwrap_or_default();
        let ways = [("kernel", HaproxySources::Kernel), ("ranges", HaproxySources::Ranges)];
        let sources = keys
            .take("source_ports")
            .map_or(Some(HaproxySources::Kernel), |node| self.one_of(node, "way", &ways));
        let check = self.check(keys.take("check"));
        let stats = keys.take("stats").map(|node| self.port(node));
        let stats = stats.map_or(Some(None), |port| port.map(|port| Some(port.value)));
        let listen = common.as_ref().map(|common| common.listen.clone()).unwrap_or_default();
        let health = self.health(keys.take("health"), &listen);
        let haproxy = Haproxy {
            mode: mode?,
            tls: tls?,
            http2: http2?,
            grpc: grpc?,
            servers: Vec::new(),
            balance: balance?.to_owned(),
            threads: threads?,
            pin: pin?,
            timeouts,
            sources: sources?,
            check: check.ok()?,
            stats: stats?,
            own: own?,
        };
        let service = common?.service(&keys, ServiceKind::Haproxy(haproxy), health?, servers);
        keys.finish();
        Some(service)
    }

    fn timeouts(&mut self, node: &Node, mode: Option<HaproxyMode>) -> HaproxyTimeouts {
        let Some(mut keys) = self.open(node, MapName::Timeouts) else {
            return HaproxyTimeouts::default();
        };
        let mut time =
            |reader: &mut Self, key| keys.take(key).and_then(|node| reader.positive_duration(node));
        let timeouts = HaproxyTimeouts {
            connect: time(self, "connect"),
            client: time(self, "client"),
            server: time(self, "server"),
            queue: time(self, "queue"),
            keepalive: time(self, "keepalive"),
        };
        if mode == Some(HaproxyMode::Tcp) && timeouts.keepalive.is_some() {
            let message = "`keepalive` is the time between two requests, but mode tcp has no requests";
            self.fail::<()>(
                Code::LabKeyConflict,
                keys.key_span("keepalive"),
                message,
                "mode: http, or leave it out",
            );
        }
        keys.finish();
        timeouts
    }

    pub(super) fn command(&mut self, node: &Node) -> Option<FileService> {
        let mut keys = self.open(node, MapName::Command)?;
        let common = self.common(&mut keys, MapName::Command);
        let run = keys.require(self, "run");
        let as_list = run.is_some_and(|node| node.items().is_some());
        let words = run.map(|node| self.clean_texts(node, "a command")).unwrap_or_default();
        let mut words: Vec<String> = words.into_iter().map(|word| word.value).collect();
        let environment = keys.take("environment").map(|node| self.environment(node)).unwrap_or_default();
        let listen = common.as_ref().map(|common| common.listen.clone()).unwrap_or_default();
        let health = self.health(keys.take("health"), &listen);
        if let Some(run) = run.filter(|_| words.iter().all(|word| word.trim().is_empty())) {
            return self.fail(
                Code::ValueMissing,
                run.place,
                "there is no command",
                "run: python3 -m http.server 80",
            );
        }
        if !as_list {
            words = ["/bin/sh".to_owned(), "-c".to_owned()].into_iter().chain(words).collect();
        }
        let command = Command { words, environment };
        let service = common?.service(&keys, ServiceKind::Command(command), health?, Vec::new());
        keys.finish();
        Some(service)
    }

    fn environment(&mut self, node: &Node) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for entry in self.entries(node, "environment") {
            let Some(value) = self.clean_text(&entry.value, "a variable") else { continue };
            if entry.key.is_empty() || entry.key.contains(['=', '\0']) {
                let message = format!("`{}` is not a variable name", entry.key);
                self.fail::<()>(Code::LabValue, entry.place, message, "for example LANG");
                continue;
            }
            all.push((entry.key.clone(), value.value));
        }
        all
    }
}
