//! Hosts and what belongs to them.

use wavetank_grammar::{key, required};

use super::CustomKind::{Address, Addresses, Cpus, Destination, Link, Mode, Scalar, Share};
use super::{Kind, MapName, Section};

/// A host.
pub(crate) static HOST: Section = Section {
    name: "a host",
    title: "Hosts",
    about: "A host has its own network, process, mount and host name namespaces and its own /etc. Its name \
        resolves in every host of the lab. The keys of a pattern apply to each of its hosts.",
    keys: &[
        key(
            "role",
            Kind::Word(&["load", "balancer", "server", "other"]),
            "Its purpose, which determines its kernel settings; default other. Load threads run in \
             load hosts.",
        ),
        required(
            "networks",
            Kind::Either(&[Kind::OneOrList(&Kind::Name), Kind::MapOrNothing(&Kind::Is(MapName::Interface))]),
            "Its networks, in the order of its interfaces eth0, eth1, …; a map has settings for each.",
        ),
        key(
            "sources",
            Kind::Count,
            "Number of source addresses on its network; default 1. With several networks, set it \
             for each.",
        ),
        key(
            "virtual",
            Kind::List(&Kind::Is(MapName::Virtual)),
            "Additional addresses. direct_routing and ipvs add theirs automatically.",
        ),
        key("routes", Kind::List(&Kind::Is(MapName::Route)), "Routes to networks that it is not on."),
        key(
            "sysctls",
            Kind::Map(&Kind::Own(Scalar)),
            "Kernel settings of its network namespace, which override those of its role; each is \
             read back.",
        ),
        key(
            "files",
            Kind::Map(&Kind::Either(&[Kind::Text, Kind::Is(MapName::HostFile)])),
            "Files by absolute path; a text is the content of the file.",
        ),
        key("limits", Kind::Is(MapName::Limits), "Resource limits."),
        key("sshd", Kind::Bool, "Start an SSH server on port 22; default false."),
        key("services", Kind::OneOrList(&Kind::Is(MapName::Service)), "Its services, in start order."),
    ],
    verbs: &[],
};

/// A host on a network.
pub(crate) static INTERFACE: Section = Section {
    name: "a host's network",
    title: "A host's network",
    about: "An interface and its cable. Rate, delay and loss apply to each direction separately.",
    keys: &[
        key(
            "address",
            Kind::Own(Addresses),
            "Its address, or a range for the hosts of a pattern; default: the next free one.",
        ),
        key("sources", Kind::Count, "Number of addresses on this network; default 1."),
        key("rate", Kind::Own(Link), "Maximum data rate (tbf); default: unlimited."),
        key("delay", Kind::Duration, "Additional delay of each packet, one way; needs a kernel with netem."),
        key("loss", Kind::Own(Share), "Share of packets lost."),
    ],
    verbs: &[],
};

/// The resource limits of a host.
pub(crate) static LIMITS: Section = Section {
    name: "limits",
    title: "Limits",
    about: "Limits on a host's use of the machine; a resource without a key is not limited.",
    keys: &[
        key("cpus", Kind::Own(Cpus), "CPUs that it may use, by the machine's numbers: 0-3 or \"0,2\"."),
        key(
            "cpu",
            Kind::Own(Share),
            "Total CPU time of its processes: 50% is half a CPU, 150% one and a half.",
        ),
        key("memory", Kind::Size, "Total memory of its processes."),
        key("open_files", Kind::Count, "Open files per process; default: the machine's limit."),
    ],
    verbs: &[],
};

/// A route.
pub(crate) static ROUTE: Section = Section {
    name: "a route",
    title: "Routes",
    about: "A route to addresses outside the host's networks.",
    keys: &[
        required("to", Kind::Own(Destination), "The network, or default."),
        required("via", Kind::Text, "The gateway: a host's name or an address."),
    ],
    verbs: &[],
};

/// A virtual address.
pub(crate) static VIRTUAL: Section = Section {
    name: "a virtual address",
    title: "Virtual addresses",
    about: "An additional address of a host. On lo it is silent: the host accepts packets sent to it and \
        answers no ARP for it.",
    keys: &[
        required("address", Kind::Own(Address), "The address."),
        required("on", Kind::Name, "A network of the host, where it answers ARP, or lo."),
        key("name", Kind::Name, "A name that the lab's hosts can use for it."),
    ],
    verbs: &[],
};

/// A file of a host.
pub(crate) static HOST_FILE: Section = Section {
    name: "a host's file",
    title: "Files of a host",
    about: "A file that only this host has, at any path; the machine's file stays unchanged.",
    keys: &[
        key("text", Kind::Text, "Its content."),
        key("from", Kind::File, "Instead of text: a file next to this one with the content."),
        key("mode", Kind::Own(Mode), "Its permission bits; default \"0644\"."),
    ],
    verbs: &["text", "from"],
};
