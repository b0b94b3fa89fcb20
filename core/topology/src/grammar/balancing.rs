//! In-kernel balancers and the servers behind a balancer.

use wavetank_grammar::{key, required};

use super::CustomKind::{Address, Never, Path, Servers};
use super::service::{BINARY, CHECK_ABOUT, CONFIG, CONNECTIONS, LISTEN, NAME, SERVERS_ABOUT};
use super::{Key, Kind, MapName, Section};
use crate::model::Ipvs;

const SERVERS: Key = required(
    "servers",
    Kind::OneOrList(&Kind::Either(&[Kind::Own(Servers), Kind::Is(MapName::Server)])),
    SERVERS_ABOUT,
);
const CHECK_KEY: Key = key("check", Kind::Either(&[Kind::Own(Never), Kind::Is(MapName::Check)]), CHECK_ABOUT);

/// Direct routing.
pub(crate) static DIRECT_ROUTING: Section = Section {
    name: "direct_routing",
    title: "direct_routing",
    about: "Frames for a virtual address are forwarded unchanged to one of the servers, and responses \
        bypass the balancer (nftables, a Maglev table, sticky flows). Only the balancer answers ARP \
        for the address. The servers have it on lo, listen on the same port and are on the balancer's \
        network.",
    keys: &[
        required("address", Kind::Own(Address), "The virtual address, free on a network of the balancer."),
        LISTEN,
        SERVERS,
        NAME,
        CONNECTIONS,
        key("slots", Kind::Count, "Slots of the Maglev table, a prime; default 65537."),
        key("sticky", Kind::Duration, "Time for which a connection is remembered; default 5m."),
        key("flows", Kind::Count, "Maximum number of remembered connections; default 1M."),
        CHECK_KEY,
    ],
    verbs: &[],
};

/// NAT.
pub(crate) static NAT: Section = Section {
    name: "nat",
    title: "nat",
    about: "Connections to an address are forwarded to one of the servers with rewritten addresses \
        (nftables).",
    keys: &[
        key(
            "address",
            Kind::Own(Address),
            "The address for clients; default: the balancer's own on its first network. Any other \
             becomes a virtual address.",
        ),
        LISTEN,
        SERVERS,
        NAME,
        CONNECTIONS,
        key(
            "masquerade",
            Kind::Bool,
            "Servers see the balancer's address; default true. false: they see the client's and \
             route responses back through the balancer.",
        ),
        CHECK_KEY,
    ],
    verbs: &[],
};

/// IPVS.
pub(crate) static IPVS: Section = Section {
    name: "ipvs",
    title: "ipvs",
    about: "The kernel's own balancer, driven by keepalived; `keepalived -t` checks its configuration \
        first.",
    keys: &[
        required("address", Kind::Own(Address), "The virtual address, free on a network of the balancer."),
        LISTEN,
        SERVERS,
        NAME,
        CONNECTIONS,
        key("scheduler", Kind::Word(&Ipvs::SCHEDULERS), "Balancing algorithm; default mh (Maglev)."),
        key(
            "forward",
            Kind::Word(&["direct_routing", "nat"]),
            "How packets are forwarded; default direct_routing, like the service of that name.",
        ),
        CHECK_KEY,
        BINARY,
        CONFIG,
    ],
    verbs: &[],
};

/// One or more servers with a weight.
pub(crate) static SERVER: Section = Section {
    name: "servers",
    title: "Servers behind a balancer",
    about: "`\"app[1-4]:8080\"` is short for `{server: \"app[1-4]:8080\", weight: 1}`.",
    keys: &[
        required("server", Kind::Own(Servers), "The host, or a pattern, and the port."),
        key("weight", Kind::Count, "Its share of the connections, relative to the others; default 1."),
    ],
    verbs: &[],
};

/// A balancer's health check of its servers.
pub(crate) static CHECK: Section = Section {
    name: "check",
    title: "Checks of servers",
    about: "Without http a connection to the server's port must be accepted.",
    keys: &[
        key("http", Kind::Own(Path), "A GET of this path must return a status from 200 to 399."),
        key("every", Kind::Duration, "Time between two checks of a server; default 1s."),
        key("timeout", Kind::Duration, "Time after which a check fails; default 1s."),
        key("fall", Kind::Count, "Consecutive failed checks after which a server is removed; default 2."),
        key("rise", Kind::Count, "Consecutive successful checks after which it returns; default 2."),
    ],
    verbs: &[],
};
