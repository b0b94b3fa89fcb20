//! The grammar as a table: every key, what it takes, what it is for.
//!
//! One source for four readers: the reader of files refuses what is not here, the JSON Schema and
//! `docs/experiment.md` are made of it, and *did you mean* looks here. Whoever adds a key here and reads it
//! nowhere is told so by the reader's own check.

mod data;
mod experiment;
mod http;
mod load;
mod step;

pub(crate) use data::{DATA_FILE, DATA_ROWS};
pub(crate) use experiment::{EVENT, EXPERIMENT};
pub(crate) use http::{HTTP, TARGET, TARGET_URL, TLS};
pub(crate) use load::{PHASE, SCENARIO};
pub(crate) use step::{CHOICE, FORMS, METHODS, MULTIPART_FILE};

/// The maps with fixed keys, by name: a table of constants cannot point at tables that point back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Experiment,
    Http,
    Tls,
    Target,
    TargetUrl,
    DataFile,
    DataRows,
    Scenario,
    Phase,
    Event,
    MultipartFile,
    Choice,
}

impl Room {
    /// All of them, in the order of the page.
    pub(crate) const ALL: [Self; 12] = [
        Self::Experiment,
        Self::Target,
        Self::TargetUrl,
        Self::Http,
        Self::Tls,
        Self::DataFile,
        Self::DataRows,
        Self::Scenario,
        Self::Phase,
        Self::Choice,
        Self::MultipartFile,
        Self::Event,
    ];

    /// The map's keys.
    pub(crate) fn section(self) -> &'static Section {
        match self {
            Self::Experiment => &EXPERIMENT,
            Self::Http => &HTTP,
            Self::Tls => &TLS,
            Self::Target => &TARGET,
            Self::TargetUrl => &TARGET_URL,
            Self::DataFile => &DATA_FILE,
            Self::DataRows => &DATA_ROWS,
            Self::Scenario => &SCENARIO,
            Self::Phase => &PHASE,
            Self::Event => &EVENT,
            Self::MultipartFile => &MULTIPART_FILE,
            Self::Choice => &CHOICE,
        }
    }
}

/// A map of the grammar with fixed keys.
pub(crate) struct Section {
    /// What messages call it: "a phase".
    pub(crate) name: &'static str,
    /// Its heading in the page.
    pub(crate) title: &'static str,
    /// What it is for.
    pub(crate) about: &'static str,
    /// Its keys, in the order in which the page lists them.
    pub(crate) keys: &'static [Key],
}

/// A key of a [`Section`] or a step.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) about: &'static str,
    /// It must stand there.
    pub(crate) required: bool,
}

/// A step: its verbs, of which exactly one stands, and the keys that belong to them.
pub(crate) struct Form {
    /// Its heading in the page.
    pub(crate) title: &'static str,
    /// Its name in the schema.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) about: &'static str,
    pub(crate) verbs: &'static [Key],
    pub(crate) keys: &'static [Key],
}

/// What a key takes.
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// One word: letters, digits, `_`, `-`, `.`.
    Name,
    /// Text with `${…}` in it.
    Template,
    /// `true` or `false`.
    Bool,
    /// The version of the grammar.
    Version,
    /// A count: `500`, `10k`, `1M`.
    Count,
    /// A duration: `30s`, `1m30s`.
    Duration,
    /// A rate: `500/s`.
    Rate,
    /// A size: `16kB`.
    Size,
    /// A count or `A to B` of them.
    CountRange,
    /// A rate or `A to B` of them.
    RateRange,
    /// A count or a rate, of a stair.
    CountOrRate,
    /// `15k`, or `1 each`.
    Sessions,
    /// `5k/s for 10s every 1m`.
    Spike,
    /// An URL.
    Url,
    /// A file's name, from the experiment's folder.
    File,
    /// Statuses: `200 to 399`.
    Statuses,
    /// A condition on the run.
    Condition,
    /// A condition on one answer.
    Check,
    /// A think time.
    Think,
    /// A part of an answer.
    From,
    /// `basic USER:PASSWORD` and its like.
    Auth,
    /// Any value, templates inside.
    Value,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A map with fixed keys.
    Is(Room),
    /// A list of steps.
    Steps,
    /// A list.
    List(&'static Self),
    /// One, or a list.
    OneOrList(&'static Self),
    /// A map from names of the user's choosing.
    Map(&'static Self),
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
