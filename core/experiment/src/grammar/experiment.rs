//! The top of the file, and events.

use wavetank_grammar::{key, required};

use super::CustomKind::{Condition, Rate, Steps, Url, Value};
use super::{Key, Kind, MapName, Section};

/// The whole file.
pub(crate) static EXPERIMENT: Section = Section {
    name: "an experiment",
    title: "The file",
    about: "Everything that a run needs. Numbers are totals of the whole run, never per host, thread or \
        connection.",
    keys: KEYS,
    verbs: &[],
};

const KEYS: &[Key] = &[
    required("wavetank", Kind::Version, "Version of this grammar."),
    key("name", Kind::Name, "Name of the run; default: the file's name."),
    key("about", Kind::Text, "What the experiment is for."),
    key(
        "vars",
        Kind::Map(&Kind::Own(Value)),
        "Named values, used as ${NAME} in place of any value. --set NAME=VALUE replaces one.",
    ),
    key(
        "target",
        Kind::OneOrList(&Kind::Own(Url)),
        "Target of the requests: one URL, or several, used in turn. --target URL replaces it.",
    ),
    key(
        "targets",
        Kind::Map(&Kind::Either(&[Kind::OneOrList(&Kind::Own(Url)), Kind::Is(MapName::Target)])),
        "Several named targets; a scenario selects one with target, a step with to.",
    ),
    key(
        "under_test",
        Kind::OneOrList(&Kind::Text),
        "Hosts under test; reaching their limits is a result. Default: all behind the target's address. \
         Patterns: \"app[01-20]\".",
    ),
    key("http", Kind::Is(MapName::Http), "HTTP settings, unless a step overrides them."),
    key("grpc", Kind::Is(MapName::Grpc), "The services of grpc:// targets."),
    key("ws", Kind::Is(MapName::WebSocket), "WebSocket settings."),
    key(
        "connection",
        Kind::Word(&["user", "session", "request", "shared"]),
        "Owner of a connection in all scenarios that have no connection of their own.",
    ),
    key(
        "connections",
        Kind::Count,
        "Size of the shared pool of rate phases, opened before the load (-c with -r). Requests beyond it wait. Default: \
         as many connections as arrivals need, up to a limit from the probe's time.",
    ),
    key(
        "sources",
        Kind::OneOrList(&Kind::Text),
        "Source addresses: auto, networks 10.0.8.0/28, ranges 10.0.8.1-10.0.8.14.",
    ),
    key(
        "data",
        Kind::Map(&Kind::Either(&[Kind::Is(MapName::DataFile), Kind::Is(MapName::DataRows)])),
        "Rows of data, used as ${NAME.column}.",
    ),
    key("blocks", Kind::Map(&Kind::Own(Steps)), "Named steps, called by use: NAME."),
    key(
        "before",
        Kind::Own(Steps),
        "Steps run once, before the load; if one fails, the load does not start (exit 4).",
    ),
    key("steps", Kind::Own(Steps), "The steps of one virtual user. For several journeys use scenarios."),
    key(
        "scenarios",
        Kind::Map(&Kind::Is(MapName::Scenario)),
        "Several journeys, each with a weight in the top-level phases or with its own phases.",
    ),
    key("phases", Kind::List(&Kind::Is(MapName::Phase)), "Phases of load, one after another."),
    key(
        "drain",
        Kind::Duration,
        "Time limit for everything after the last phase; default: 30s or the longest timeout. 0s \
         stops immediately.",
    ),
    key("seed", Kind::Count, "Seed of all random choices. Default 1."),
    key("open_rate", Kind::Own(Rate), "Rate at which connections are opened before a phase; default 5k/s."),
    key("late_tolerance", Kind::Duration, "Lag above which a request is late; default 1ms."),
    key("redact", Kind::OneOrList(&Kind::Text), "Headers, cookies and variables shown as ***."),
    key("probe", Kind::Bool, "Send one uncounted request before the load; default false."),
    key(
        "truth",
        Kind::Bool,
        "Query the target's number of connections every second while connections are held (wavetank \
         serve only). Default: only for a target on this host.",
    ),
    key("tags", Kind::Map(&Kind::Text), "Your labels, stored with the run."),
    key(
        "thresholds",
        Kind::OneOrList(&Kind::Own(Condition)),
        "Conditions that must all pass, else FAIL (exit 1).",
    ),
    key(
        "stop",
        Kind::OneOrList(&Kind::Own(Condition)),
        "The first condition that becomes true ends the run: FAIL (exit 1).",
    ),
    key("events", Kind::List(&Kind::Is(MapName::Event)), "Actions on hosts during the run; needs a lab."),
    key(
        "after",
        Kind::Own(Steps),
        "Steps run once, after the load has ended; a failed check is FAIL (exit 1).",
    ),
];

/// An event.
pub(crate) static EVENT: Section = Section {
    name: "an event",
    title: "Events",
    about: "An action on a host during the run. undo runs at its end, and whenever the run is interrupted.",
    keys: &[
        required("when", Kind::Duration, "Time after the start of the load."),
        required("host", Kind::Text, "The lab's host, or a pattern for several."),
        required(
            "run",
            Kind::Text,
            "A command for the host's shell; or `fault` with the arguments of `wavetank lab fault \
             HOST`: fault kill nginx; or `pool` with the arguments of `wavetank lab pool HOST`: \
             pool haproxy app1 drain.",
        ),
        key("undo", Kind::Text, "The command that reverts it; not needed for a fault or a pool change."),
        key("for", Kind::Duration, "Duration until it is reverted; default: until the end of the run."),
    ],
    verbs: &[],
};
