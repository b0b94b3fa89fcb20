//! [`Experiment`]: the whole file.

use wavetank_plan::{Condition, Nanos, Rate, SourcesPlan};

use super::{Connection, DataSource, Http, Phase, Scenario, Step, Target, Value};
use crate::{Span, Spanned};

/// The whole file as it was read. Every quantity is a total of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    /// Name of the run.
    pub name: Option<Spanned<String>>,
    /// What it is for.
    pub about: Option<String>,
    /// Values with names, those of `--set` in place.
    pub vars: Vec<Variable>,
    /// Where requests go; the one of `target:` has no name.
    pub targets: Vec<Target>,
    /// Hosts whose own limit is a valid result.
    pub under_test: Vec<Spanned<String>>,
    /// How HTTP is spoken.
    pub http: Http,
    /// Owner of a connection in scenarios that name none; copied into them.
    pub connection: Option<Spanned<Connection>>,
    /// Connections of the shared pool; copied into the phases.
    pub connections: Option<Spanned<u64>>,
    /// Source addresses, as `--source` takes them.
    pub sources: Option<Spanned<Sources>>,
    /// Rows of data.
    pub data: Vec<DataSource>,
    /// Steps with names.
    pub blocks: Vec<Block>,
    /// Once, ahead of the load.
    pub before: Vec<Step>,
    /// The journeys; the one of a top-level `steps:` has no name.
    pub scenarios: Vec<Scenario>,
    /// The top-level phases.
    pub phases: Vec<Phase>,
    /// Bound on everything after the last phase.
    pub drain: Option<Spanned<Nanos>>,
    /// Of every random choice.
    pub seed: Option<u64>,
    /// Connections opened ahead of a phase.
    pub open_rate: Option<Rate>,
    /// Lag above which a request is late.
    pub late_tolerance: Option<Nanos>,
    /// Names with values shown as `***`.
    pub redact: Vec<String>,
    /// Send one request ahead of the load.
    pub probe: Option<bool>,
    /// Ask the target for its own count of held connections; `None`: if it is on this host.
    pub truth: Option<bool>,
    /// Labels of the user's.
    pub tags: Vec<(String, String)>,
    /// What must hold.
    pub thresholds: Vec<Spanned<Condition>>,
    /// What ends the run.
    pub stop: Vec<Spanned<Condition>>,
    /// What is done to hosts.
    pub events: Vec<Event>,
    /// Once, when all is quiet.
    pub after: Vec<Step>,
}

/// `auto`, or addresses.
#[derive(Clone, Debug, PartialEq)]
pub enum Sources {
    /// All addresses of the interface towards the target.
    Auto,
    /// These.
    These(SourcesPlan),
}

/// An entry under `vars`.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Position of the name; the default position if only `--set` gives it.
    pub place: Span,
    /// Its value; `10k` without quotes is the number.
    pub value: Value,
}

/// An entry under `blocks`.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its name.
    pub name: Spanned<String>,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// Something done to a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Position in the file.
    pub place: Span,
    /// After the start of the load.
    pub when: Nanos,
    /// The host, or a pattern.
    pub host: Spanned<String>,
    /// The command.
    pub run: String,
    /// The command that takes it back.
    pub undo: Option<String>,
    /// How long it lasts; `None`: to the end of the run.
    pub lasts: Option<Nanos>,
}
