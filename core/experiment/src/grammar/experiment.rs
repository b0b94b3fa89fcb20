//! The top of the file, and events.

use super::CustomKind::{Condition, Rate, Steps, Url, Value};
use super::{Key, Kind, MapName, Section, key, required};

/// The whole file.
pub(crate) static EXPERIMENT: Section = Section {
    name: "an experiment",
    title: "The file",
    about: "Everything a run needs. Numbers are totals of the whole run, never per host, thread or connection.",
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
        "Values with names, used as ${NAME} wherever a value stands. --set NAME=VALUE replaces one.",
    ),
    key(
        "target",
        Kind::OneOrList(&Kind::Own(Url)),
        "Where requests go: one URL, or several, used in turn. --target URL replaces it.",
    ),
    key(
        "targets",
        Kind::Map(&Kind::Either(&[Kind::OneOrList(&Kind::Own(Url)), Kind::Is(MapName::Target)])),
        "Several targets with names; a scenario names its own by target, a step by to.",
    ),
    key(
        "under_test",
        Kind::OneOrList(&Kind::Text),
        "Hosts whose limit is a result; default: all behind the target's address. Patterns: \"app[01-20]\".",
    ),
    key("http", Kind::Is(MapName::Http), "How HTTP is spoken, unless a step says otherwise."),
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
    key("blocks", Kind::Map(&Kind::Own(Steps)), "Steps with a name, called by use: NAME."),
    key("before", Kind::Own(Steps), "Once, ahead of the load; if a step fails there is no load (exit 4)."),
    key("steps", Kind::Own(Steps), "What one virtual user does. Several journeys: scenarios."),
    key(
        "scenarios",
        Kind::Map(&Kind::Is(MapName::Scenario)),
        "Several journeys, each with a weight in the top-level phases or with phases of its own.",
    ),
    key("phases", Kind::List(&Kind::Is(MapName::Phase)), "Stretches of load, one after the other."),
    key(
        "drain",
        Kind::Duration,
        "Bound on everything after the last phase; default: 30s or the longest timeout. 0s cuts at once.",
    ),
    key("seed", Kind::Count, "Of every random choice; default: chosen and printed."),
    key("open_rate", Kind::Own(Rate), "Connections opened ahead of a phase; default 5k/s."),
    key("late_tolerance", Kind::Duration, "Lag above which a request is late; default 1ms."),
    key("redact", Kind::OneOrList(&Kind::Text), "Headers, cookies and variables shown as ***."),
    key("probe", Kind::Bool, "Send one uncounted request ahead of the load; default false."),
    key(
        "truth",
        Kind::Bool,
        "Ask the target each second how many connections it has, while some are held: a wavetank serve tells it. \
         Default: only a target on this host is asked.",
    ),
    key("tags", Kind::Map(&Kind::Text), "Labels of yours, kept with the run."),
    key(
        "thresholds",
        Kind::OneOrList(&Kind::Own(Condition)),
        "What must hold, all of it: else FAIL (exit 1).",
    ),
    key(
        "stop",
        Kind::OneOrList(&Kind::Own(Condition)),
        "The first that comes true ends the run: FAIL (exit 1).",
    ),
    key(
        "events",
        Kind::List(&Kind::Is(MapName::Event)),
        "What is done to hosts during the run; needs a lab.",
    ),
    key("after", Kind::Own(Steps), "Once, when all is quiet; a failed check is FAIL (exit 1)."),
];

/// An event.
pub(crate) static EVENT: Section = Section {
    name: "an event",
    title: "Events",
    about: "Something done to a host during the run. undo runs at the end, and whenever the run is cut short.",
    keys: &[
        required("when", Kind::Duration, "Time after the start of the load."),
        required("host", Kind::Text, "The host of the lab, or a pattern: each of them."),
        required(
            "run",
            Kind::Text,
            "The command, for the host's shell; or `fault` and its words, as `wavetank lab fault HOST` takes them: \
             fault kill nginx; or `pool` and its words, as `wavetank lab pool HOST` takes them: pool haproxy app1 drain.",
        ),
        key("undo", Kind::Text, "The command that takes it back; a fault or a change of a pool needs none."),
        key(
            "for",
            Kind::Duration,
            "How long it lasts until it is taken back; default: to the end of the run.",
        ),
    ],
    verbs: &[],
};
