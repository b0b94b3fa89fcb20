//! The top of the file, and networks.

use super::CustomKind::Subnet;
use super::{Kind, MapName, Section, key, required};

/// The whole file.
pub(crate) static LAB: Section = Section {
    name: "a lab",
    title: "The file",
    about: "A cluster: networks, the hosts on them, what runs there, and what goes wrong. Nothing is created before all \
            of it has been checked.",
    keys: &[
        required("wavetank_lab", Kind::Version, "Version of this grammar."),
        key("name", Kind::Name, "Name of the lab; default: the file's name."),
        key("about", Kind::Text, "What the lab is for."),
        required(
            "networks",
            Kind::Map(&Kind::Either(&[Kind::Own(Subnet), Kind::Is(MapName::Network)])),
            "The networks by their names, each with its addresses.",
        ),
        required(
            "hosts",
            Kind::Map(&Kind::Is(MapName::Host)),
            "The hosts by their names; `app[1-4]` stands for app1 to app4, `app[01-20]` for app01 to app20.",
        ),
        key("faults", Kind::List(&Kind::Is(MapName::Fault)), "What goes wrong in each run with the lab."),
    ],
    verbs: &[],
};

/// A network.
pub(crate) static NETWORK: Section = Section {
    name: "a network",
    title: "Networks",
    about: "A network is a bridge of its own with nothing on it but the lab's hosts. `front: 10.30.0.0/24` says the same \
            as `front: {subnet: 10.30.0.0/24}`.",
    keys: &[required(
        "subnet",
        Kind::Own(Subnet),
        "Its addresses: a private network, apart from the lab's others.",
    )],
    verbs: &[],
};
