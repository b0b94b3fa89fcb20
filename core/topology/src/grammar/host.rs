//! Hosts and what belongs to them.

use super::CustomKind::{Address, Addresses, Cpus, Destination, Link, Mode, Scalar, Share};
use super::{Kind, MapName, Section, key, required};

/// A host.
pub(crate) static HOST: Section = Section {
    name: "a host",
    title: "Hosts",
    about: "A host has network, process, mount and name spaces of its own, its own /etc, and its name resolves in every \
            host of the lab. What a key of a pattern says holds for each of its hosts.",
    keys: &[
        key(
            "role",
            Kind::Word(&["load", "balancer", "server", "other"]),
            "What it is for, from which its kernel settings follow; default other. Load threads run in load hosts.",
        ),
        required(
            "networks",
            Kind::Either(&[Kind::OneOrList(&Kind::Name), Kind::MapOrNothing(&Kind::Is(MapName::Interface))]),
            "The networks it is on, in the order of its interfaces eth0, eth1, …; a map says more of each.",
        ),
        key(
            "sources",
            Kind::Count,
            "Addresses on its network, from which connections go out; default 1. On several networks say it of each.",
        ),
        key(
            "virtual",
            Kind::List(&Kind::Is(MapName::Virtual)),
            "Addresses beside its own. direct_routing and ipvs bring theirs by themselves.",
        ),
        key("routes", Kind::List(&Kind::Is(MapName::Route)), "Ways to networks that it is not on."),
        key(
            "sysctls",
            Kind::Map(&Kind::Own(Scalar)),
            "Kernel settings of its network namespace, in place of those of its role; each is read back.",
        ),
        key(
            "files",
            Kind::Map(&Kind::Either(&[Kind::Text, Kind::Is(MapName::HostFile)])),
            "Files by their paths under /etc; a text is what stands in one.",
        ),
        key("limits", Kind::Is(MapName::Limits), "What it may use of the machine."),
        key("sshd", Kind::Bool, "Start an SSH server on port 22; default false."),
        key(
            "services",
            Kind::OneOrList(&Kind::Is(MapName::Service)),
            "What runs on it, in the order in which it is started.",
        ),
    ],
    verbs: &[],
};

/// A host on a network.
pub(crate) static INTERFACE: Section = Section {
    name: "a host's network",
    title: "A host's network",
    about: "An interface and its cable. Rate, delay and loss hold for either direction by itself.",
    keys: &[
        key(
            "address",
            Kind::Own(Addresses),
            "Its address, or a range for the hosts of a pattern; default: the next one that is free.",
        ),
        key("sources", Kind::Count, "Addresses that it has here; default 1."),
        key("rate", Kind::Own(Link), "Most data per second (tbf); default: as fast as the machine is."),
        key("delay", Kind::Duration, "What each packet takes longer, one way; where the kernel has netem."),
        key("loss", Kind::Own(Share), "Share of packets that are lost."),
    ],
    verbs: &[],
};

/// What a host may use.
pub(crate) static LIMITS: Section = Section {
    name: "limits",
    title: "Limits",
    about: "What a host may use of the machine; what does not stand here is not limited.",
    keys: &[
        key("cpus", Kind::Own(Cpus), "CPUs that it may run on, by the machine's numbers: 0-3 or \"0,2\"."),
        key(
            "cpu",
            Kind::Own(Share),
            "CPU time of all its processes together: 50% is half a CPU, 150% one and a half.",
        ),
        key("memory", Kind::Size, "Memory of all its processes together."),
        key("open_files", Kind::Count, "Open files of each process; default: what the machine allows."),
    ],
    verbs: &[],
};

/// A route.
pub(crate) static ROUTE: Section = Section {
    name: "a route",
    title: "Routes",
    about: "A way to addresses that are on none of the host's networks.",
    keys: &[
        required("to", Kind::Own(Destination), "The network, or default."),
        required("via", Kind::Text, "The neighbour that passes it on: a host's name or an address."),
    ],
    verbs: &[],
};

/// A virtual address.
pub(crate) static VIRTUAL: Section = Section {
    name: "a virtual address",
    title: "Virtual addresses",
    about: "An address that a host has beside its own. On lo it is silent: the host takes what is sent to it and answers \
            no ARP for it.",
    keys: &[
        required("address", Kind::Own(Address), "The address."),
        required("on", Kind::Name, "A network of the host, where it answers ARP, or lo."),
        key("name", Kind::Name, "A name by which the lab's hosts reach it."),
    ],
    verbs: &[],
};

/// A file under `/etc`.
pub(crate) static HOST_FILE: Section = Section {
    name: "a host's file",
    title: "Files of a host",
    about: "A file over the host's own /etc; the machine's stays as it is.",
    keys: &[
        key("text", Kind::Text, "What stands in it."),
        key("from", Kind::File, "Instead: a file beside this one whose text it gets."),
        key("mode", Kind::Own(Mode), "Its permission bits; default \"0644\"."),
    ],
    verbs: &["text", "from"],
};
