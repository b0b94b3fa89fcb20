//! Services that are programs.

use super::CustomKind::{Cpus, Never, Path, Ports, Scalar, Servers};
use super::{Key, Kind, MapName, Section, key, required};
use crate::Haproxy;

/// A service.
pub(crate) static SERVICE: Section = Section {
    name: "a service",
    title: "Services",
    about: "A map with exactly one of these keys. A host's services start in their order; what can be checked of them is \
            checked before anything is created. Programs stay in the foreground.",
    keys: &[
        key("serve", Kind::Is(MapName::Serve), "This program's own target."),
        key("nginx", Kind::Is(MapName::Nginx), "nginx: static files, a proxy, or a flash sale in Lua."),
        key("haproxy", Kind::Is(MapName::Haproxy), "HAProxy, over TCP or HTTP."),
        key("direct_routing", Kind::Is(MapName::DirectRouting), "Direct routing by nftables."),
        key("nat", Kind::Is(MapName::Nat), "NAT by nftables."),
        key("ipvs", Kind::Is(MapName::Ipvs), "IPVS by keepalived, where the kernel has it."),
        key("command", Kind::Is(MapName::Command), "Any program."),
    ],
    verbs: &["serve", "nginx", "haproxy", "direct_routing", "nat", "ipvs", "command"],
};

pub(super) const NAME: Key = key("name", Kind::Name, "Its name on the host; default: the word of its kind.");
pub(super) const LISTEN: Key =
    required("listen", Kind::Own(Ports), "The port, or several: 8080 to 8087, [80, 443].");
const COPIES: Key = key("copies", Kind::Count, "Processes that share the ports; default 1.");
pub(super) const CONNECTIONS: Key =
    key("connections", Kind::Count, "Client connections at once that it is made for, all copies together.");
const HEALTH_KEY: Key = key("health", Kind::Is(MapName::Health), "When it counts as up.");
const TLS: Key =
    key("tls", Kind::Bool, "End TLS here, with a certificate that the lab makes; default false.");
pub(super) const BINARY: Key =
    key("binary", Kind::Text, "Your own binary: an absolute path, or a name in PATH.");
pub(super) const CONFIG: Key = key(
    "config",
    Kind::File,
    "Your own configuration, a file beside this one, in place of the generated one; it must listen on these ports.",
);
const WITHOUT: Key = key(
    "without",
    Kind::OneOrList(&Kind::Text),
    "Directives to leave out of the generated configuration, to see what each does.",
);
pub(super) const SERVERS_ABOUT: &str =
    "Those behind it: \"app[1-4]:8080\"; without a port: the port it listens on itself.";
pub(super) const CHECK_ABOUT: &str = "How it finds out that one of them is dead; false: it does not look.";

/// `wavetank serve`.
pub(crate) static SERVE: Section = Section {
    name: "serve",
    title: "serve",
    about: "`wavetank serve` on all addresses of the host.",
    keys: &[
        LISTEN,
        NAME,
        COPIES,
        CONNECTIONS,
        HEALTH_KEY,
        TLS,
        key("threads", Kind::Count, "Threads; default: one for each CPU it may use."),
        key("any", Kind::Bool, "Answer unknown paths like /; default false."),
        key("options", Kind::List(&Kind::Text), "More of its options, a word each: [--freeze, 5s]."),
    ],
    verbs: &[],
};

/// nginx.
pub(crate) static NGINX: Section = Section {
    name: "nginx",
    title: "nginx",
    about: "With servers it is a reverse proxy, with sale a flash sale in Lua, else it serves files. Its configuration is \
            generated, each directive with its reason, or your own; `nginx -t` checks it first.",
    keys: &[
        LISTEN,
        NAME,
        COPIES,
        CONNECTIONS,
        HEALTH_KEY,
        TLS,
        key(
            "pages",
            Kind::Map(&Kind::Size),
            "Files to serve, by path, with their sizes: {/1k: 1kB}; / is always there.",
        ),
        key(
            "servers",
            Kind::OneOrList(&Kind::Either(&[Kind::Own(Servers), Kind::Is(MapName::Server)])),
            SERVERS_ABOUT,
        ),
        key("keepalive", Kind::Bool, "With servers: keep connections to them open; default true."),
        key(
            "sale",
            Kind::Count,
            "A flash sale of so many things: /api/seckill, /api/login, /api/order, /admin/sale.",
        ),
        key("workers", Kind::Count, "Worker processes; default: one for each CPU it may use."),
        BINARY,
        CONFIG,
        WITHOUT,
    ],
    verbs: &[],
};

/// `HAProxy`.
pub(crate) static HAPROXY: Section = Section {
    name: "haproxy",
    title: "haproxy",
    about: "Its configuration is generated, each directive with its reason, or your own; `haproxy -c` checks it first.",
    keys: &[
        LISTEN,
        key("mode", Kind::Word(&["tcp", "http"]), "What it understands of what passes; default http."),
        key(
            "servers",
            Kind::OneOrList(&Kind::Either(&[Kind::Own(Servers), Kind::Is(MapName::Server)])),
            SERVERS_ABOUT,
        ),
        NAME,
        COPIES,
        CONNECTIONS,
        HEALTH_KEY,
        TLS,
        key("balance", Kind::Word(&Haproxy::BALANCE), "How the next server is chosen; default roundrobin."),
        key(
            "threads",
            Kind::Count,
            "Threads of each process; default: the CPUs it may use, divided among its copies.",
        ),
        key("pin", Kind::Own(Cpus), "CPUs that its threads are pinned to (cpu-map), in turn."),
        key("timeouts", Kind::Is(MapName::Timeouts), "Its times."),
        key(
            "source_ports",
            Kind::Word(&["kernel", "ranges"]),
            "Who chooses ports towards the servers: the kernel (default), or explicit ranges over all addresses here.",
        ),
        key("check", Kind::Either(&[Kind::Own(Never), Kind::Is(MapName::Check)]), CHECK_ABOUT),
        key("stats", Kind::Count, "Port of its statistics page; the statistics socket is always there."),
        BINARY,
        CONFIG,
        WITHOUT,
    ],
    verbs: &[],
};

/// Times of a `HAProxy`.
pub(crate) static TIMEOUTS: Section = Section {
    name: "timeouts",
    title: "Times of haproxy",
    about: "They must exceed the longest answer and the longest silence that a run has.",
    keys: &[
        key("connect", Kind::Duration, "Connecting to a server."),
        key("client", Kind::Duration, "Silence of a client."),
        key("server", Kind::Duration, "Silence of a server."),
        key("queue", Kind::Duration, "Waiting for a server's turn."),
        key("keepalive", Kind::Duration, "Between two requests of a connection; mode http."),
    ],
    verbs: &[],
};

/// Any program.
pub(crate) static COMMAND: Section = Section {
    name: "command",
    title: "command",
    about: "Any program that stays in the foreground; a text goes to /bin/sh, a list is program and arguments.",
    keys: &[
        required("run", Kind::OneOrList(&Kind::Text), "The program."),
        NAME,
        key("listen", Kind::Own(Ports), "Its port, or several; without, it counts as up while it runs."),
        COPIES,
        HEALTH_KEY,
        key("environment", Kind::Map(&Kind::Own(Scalar)), "Variables beside those it has anyway."),
    ],
    verbs: &[],
};

/// When a service is up.
pub(crate) static HEALTH: Section = Section {
    name: "health",
    title: "Health of a service",
    about: "Asked from inside the host. Without http a connection to the port must be accepted.",
    keys: &[
        key("http", Kind::Own(Path), "A GET of this path is answered with a status from 200 to 399."),
        key("port", Kind::Count, "The port; default: the first it listens on."),
        key("every", Kind::Duration, "Time between two tries; default 50ms."),
        key("within", Kind::Duration, "It must be up within this time; default 10s."),
    ],
    verbs: &[],
};
