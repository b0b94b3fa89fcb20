//! The top of the file, and networks.

use wavetank_grammar::{key, required};

use super::CustomKind::Subnet;
use super::{Kind, MapName, Section};

/// The whole file.
pub(crate) static LAB: Section = Section {
    name: "a lab",
    title: "The file",
    about: "A cluster: networks, the hosts on them, their services, and faults. Everything is checked \
        before anything is created.",
    keys: &[
        required("wavetank_lab", Kind::Version, "Version of this grammar."),
        key("name", Kind::Name, "Name of the lab; default: the file's name."),
        key("about", Kind::Text, "What the lab is for."),
        required(
            "networks",
            Kind::Map(&Kind::Either(&[Kind::Own(Subnet), Kind::Is(MapName::Network)])),
            "The networks by name, each with its addresses.",
        ),
        required(
            "hosts",
            Kind::Map(&Kind::Is(MapName::Host)),
            "The hosts by name; `app[1-4]` means app1 to app4, `app[01-20]` app01 to app20.",
        ),
        key("faults", Kind::List(&Kind::Is(MapName::Fault)), "Faults injected in every run with the lab."),
    ],
    verbs: &[],
};

/// A network.
pub(crate) static NETWORK: Section = Section {
    name: "a network",
    title: "Networks",
    about: "A network is a separate bridge with only the lab's hosts on it. `front: 10.30.0.0/24` is short \
        for `front: {subnet: 10.30.0.0/24}`.",
    keys: &[required(
        "subnet",
        Kind::Own(Subnet),
        "Its addresses: a private network that does not overlap the lab's others.",
    )],
    verbs: &[],
};
