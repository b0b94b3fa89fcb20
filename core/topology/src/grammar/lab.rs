//! The top of the file, and networks.

use super::Own::Subnet;
use super::{Kind, Room, Section, key, must};

/// The whole file.
pub(crate) static LAB: Section = Section {
    name: "a lab",
    title: "The file",
    about: "A cluster: networks, the hosts on them, what runs there, and what goes wrong. Nothing is created before all \
            of it has been checked.",
    keys: &[
        must("wavetank_lab", Kind::Version, "Version of this grammar."),
        key("name", Kind::Name, "Name of the lab; default: the file's name."),
        key("about", Kind::Text, "What the lab is for."),
        must(
            "networks",
            Kind::Map(&Kind::Either(&[Kind::Own(Subnet), Kind::Is(Room::Network)])),
            "The networks by their names, each with its addresses.",
        ),
        must(
            "hosts",
            Kind::Map(&Kind::Is(Room::Host)),
            "The hosts by their names; `app[1-4]` stands for app1 to app4, `app[01-20]` for app01 to app20.",
        ),
        key("faults", Kind::List(&Kind::Is(Room::Fault)), "What goes wrong in each run with the lab."),
    ],
    verbs: &[],
};

/// A network.
pub(crate) static NETWORK: Section = Section {
    name: "a network",
    title: "Networks",
    about: "A network is a bridge of its own with nothing on it but the lab's hosts. `front: 10.30.0.0/24` says the same \
            as `front: {subnet: 10.30.0.0/24}`.",
    keys: &[must(
        "subnet",
        Kind::Own(Subnet),
        "Its addresses: a private network, apart from the lab's others.",
    )],
    verbs: &[],
};
