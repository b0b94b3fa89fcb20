//! The grammar of topology files as a table: every key, what it takes, what it is for.
//!
//! One source for the reader, which refuses what is not here, for the JSON Schema and for the tables of `docs/lab.md`.
//! A key that stands here and that nobody reads is told by the reader's own check.

mod balancing;
mod fault;
mod host;
mod lab;
mod service;

pub(crate) use balancing::{CHECK, DIRECT_ROUTING, IPVS, NAT, SERVER};
pub(crate) use fault::FAULT;
pub(crate) use host::{HOST, HOST_FILE, INTERFACE, LIMITS, ROUTE, VIRTUAL};
pub(crate) use lab::{LAB, NETWORK};
pub(crate) use service::{COMMAND, HAPROXY, HEALTH, NGINX, SERVE, SERVICE, TIMEOUTS};

/// The maps with fixed keys, by name: a table of constants cannot point at tables that point back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Lab,
    Network,
    Host,
    Interface,
    Limits,
    Route,
    Virtual,
    HostFile,
    Service,
    Nginx,
    Haproxy,
    Timeouts,
    Serve,
    DirectRouting,
    Nat,
    Ipvs,
    Command,
    Server,
    Check,
    Health,
    Fault,
}

impl Room {
    /// All of them, in the order of the page.
    pub(crate) const ALL: [Self; 21] = [
        Self::Lab,
        Self::Network,
        Self::Host,
        Self::Interface,
        Self::Limits,
        Self::HostFile,
        Self::Virtual,
        Self::Route,
        Self::Service,
        Self::Serve,
        Self::Nginx,
        Self::Haproxy,
        Self::Timeouts,
        Self::DirectRouting,
        Self::Nat,
        Self::Ipvs,
        Self::Command,
        Self::Server,
        Self::Check,
        Self::Health,
        Self::Fault,
    ];

    /// The map's keys.
    pub(crate) fn section(self) -> &'static Section {
        match self {
            Self::Lab => &LAB,
            Self::Network => &NETWORK,
            Self::Host => &HOST,
            Self::Interface => &INTERFACE,
            Self::Limits => &LIMITS,
            Self::Route => &ROUTE,
            Self::Virtual => &VIRTUAL,
            Self::HostFile => &HOST_FILE,
            Self::Service => &SERVICE,
            Self::Nginx => &NGINX,
            Self::Haproxy => &HAPROXY,
            Self::Timeouts => &TIMEOUTS,
            Self::Serve => &SERVE,
            Self::DirectRouting => &DIRECT_ROUTING,
            Self::Nat => &NAT,
            Self::Ipvs => &IPVS,
            Self::Command => &COMMAND,
            Self::Server => &SERVER,
            Self::Check => &CHECK,
            Self::Health => &HEALTH,
            Self::Fault => &FAULT,
        }
    }
}

/// A map of the grammar with fixed keys.
pub(crate) struct Section {
    /// What messages call it: "a host".
    pub(crate) name: &'static str,
    /// Its heading in the page.
    pub(crate) title: &'static str,
    /// What it is for.
    pub(crate) about: &'static str,
    /// Its keys, in the order in which the page lists them.
    pub(crate) keys: &'static [Key],
    /// Of these keys exactly one must stand there; empty where there is no such rule.
    pub(crate) verbs: &'static [&'static str],
}

/// A key of a [`Section`].
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) about: &'static str,
    /// It must stand there.
    pub(crate) required: bool,
}

/// What a key takes.
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// One word: lower-case letters, digits, `-`.
    Name,
    /// `true` or `false`.
    Bool,
    /// The version of the grammar.
    Version,
    /// A count: `500`, `10k`, `1M`.
    Count,
    /// A duration: `30s`, `1m30s`.
    Duration,
    /// A size: `16kB`.
    Size,
    /// A share: `5%`.
    Share,
    /// A rate of data: `1Gbit/s`.
    Link,
    /// `10.30.0.0/24`.
    Subnet,
    /// `10.30.0.0/24`, or `default`.
    Destination,
    /// `10.30.0.10`.
    Address,
    /// An address, or `A to B` of them.
    Addresses,
    /// A port, or `A to B`, or a list.
    Ports,
    /// CPUs by their numbers: `0-3`, `"0,2"`.
    Cpus,
    /// A path that begins with `/`.
    Path,
    /// A file's name, from the topology file's folder.
    File,
    /// Permission bits: `"0644"`.
    Mode,
    /// `"app[1-4]:8080"`.
    Servers,
    /// A single value of any kind, as a sysctl has: text or number.
    Scalar,
    /// `false`.
    Never,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A map with fixed keys.
    Is(Room),
    /// A list.
    List(&'static Self),
    /// One, or a list.
    OneOrList(&'static Self),
    /// A map from names of the user's choosing.
    Map(&'static Self),
    /// A map from names of the user's choosing, whose values may be left out.
    MapOrNothing(&'static Self),
    /// One of several kinds.
    Either(&'static [Self]),
}

pub(crate) const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, about, required: false }
}

/// A key that must stand there.
pub(crate) const fn must(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, about, required: true }
}
