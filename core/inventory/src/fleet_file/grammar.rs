//! The grammar of fleet files as a table.

use serde_json::Value;
use wavetank_grammar::json_schema_values::{pattern_or_variable, text};
use wavetank_grammar::{ErrorHints, Grammar, key, required};

pub(super) type Kind = wavetank_grammar::ValueKind<MapName>;
type Section = wavetank_grammar::MapSchema<MapName>;

/// The maps with fixed keys, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapName {
    Fleet,
    Ssh,
    LoadHost,
    ObservedHost,
}

/// The kind of value that only fleet files have.
pub(super) enum CustomKind {
    /// `ssh`, `nats`, or the address of a NATS server.
    Link,
}

impl wavetank_grammar::CustomKind for CustomKind {
    fn takes(&self) -> &'static str {
        "`ssh`, `nats` or `nats://HOST:PORT`"
    }

    fn shape(&self) -> Value {
        text()
    }
}

static FLEET: Section = Section {
    name: "a fleet",
    title: "The file",
    about: "The machines of a fleet and how to reach them. Experiments name no machines of their own.",
    keys: &[
        required("wavetank_fleet", Kind::Version, "Version of this grammar."),
        key("name", Kind::Name, "Name of the fleet; default: the file's name."),
        key("about", Kind::Text, "What the fleet is for."),
        key("ssh", Kind::Is(MapName::Ssh), "How ssh logs in; the user's own ssh configuration applies too."),
        key(
            "link",
            Kind::Own(CustomKind::Link),
            "How controller and agents talk: ssh, a NATS server, or `nats` for one that `fleet up` starts; default ssh.",
        ),
        key(
            "allow",
            Kind::OneOrList(&Kind::Text),
            "Targets that agents may load: names, addresses, networks.",
        ),
        required(
            "load",
            Kind::MapOrNothing(&Kind::MapOrNothing(&Kind::Is(MapName::LoadHost))),
            "Hosts that send load; `load[01-16]` means load01 to load16.",
        ),
        key(
            "observe",
            Kind::MapOrNothing(&Kind::MapOrNothing(&Kind::Is(MapName::ObservedHost))),
            "Hosts that are only observed.",
        ),
    ],
    verbs: &[],
};

static SSH: Section = Section {
    name: "ssh",
    title: "ssh",
    about: "Options of ssh for every host. What is left out is the user's own ssh configuration.",
    keys: &[
        key("user", Kind::Text, "Login name."),
        key("port", Kind::Count, "Port of the SSH server."),
        key("identity", Kind::Text, "File with the private key."),
        key("jump", Kind::Text, "Hosts to jump through, as `ssh -J` takes them."),
        key("sudo", Kind::Bool, "Start commands by sudo; default false."),
        key("at_once", Kind::Count, "Simultaneous logins; default 32."),
    ],
    verbs: &[],
};

static LOAD_HOST: Section = Section {
    name: "a load host",
    title: "Load hosts",
    about: "A machine that sends load. Its share is that of its weight, else of its calibration or cores.",
    keys: &[
        key("address", Kind::Text, "Name or address to connect to; default: the host's name."),
        key("weight", Kind::Count, "Weight of its share of the load."),
        key("sources", Kind::Text, "Source addresses of its connections, as --source takes them."),
    ],
    verbs: &[],
};

static OBSERVED_HOST: Section = Section {
    name: "an observed host",
    title: "Observed hosts",
    about: "A machine under test, for `fleet exec`, `top` and `hosts`. `--observe` samples it in a run.",
    keys: &[
        key("address", Kind::Text, "Name or address to connect to; default: the host's name."),
        key("as", Kind::Word(&["balancer", "server", "other"]), "What it is; default server."),
    ],
    verbs: &[],
};

impl Grammar for MapName {
    type Own = CustomKind;

    const ALL: &'static [Self] = &[Self::Fleet, Self::Ssh, Self::LoadHost, Self::ObservedHost];
    const FILE: Self = Self::Fleet;
    const TITLE: &'static str = "Wavetank fleet, version 1";
    const ADVICE: ErrorHints = ErrorHints {
        a_file: "a fleet file",
        empty: "a fleet file begins with wavetank_fleet: 1",
        documents: "one fleet a file: leave out the line ---",
        deep: "use fewer levels",
        map: "{user: ops}",
        line: "user: ops",
        alias: "use one key for hosts that are alike: load[01-16]",
        merge: "use one key for hosts that are alike: load[01-16]",
        long: "use ranges: load[01-16]",
    };

    fn section(self) -> &'static Section {
        match self {
            Self::Fleet => &FLEET,
            Self::Ssh => &SSH,
            Self::LoadHost => &LOAD_HOST,
            Self::ObservedHost => &OBSERVED_HOST,
        }
    }

    fn definition(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    fn name_shape() -> Value {
        pattern_or_variable::<Self>("[A-Za-z0-9]([A-Za-z0-9_.-]{0,62}[A-Za-z0-9])?")
    }
}
