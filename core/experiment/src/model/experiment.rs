//! [`Experiment`]: the whole file.

use wavetank_grammar::{Span, Spanned};
use wavetank_plan::{Condition, SettingNames, SourcesPlan};
use wavetank_units::{Nanos, Rate};

use super::{Connection, DataSource, Grpc, Http, Phase, Scenario, Step, Target, Value, WebSocket};

/// The whole file as it was read. Every quantity is a total of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    /// Name of the run.
    pub name: Option<Spanned<String>>,
    /// The purpose of the experiment.
    pub about: Option<String>,
    /// Variables, with the values of `--set`.
    pub vars: Vec<Variable>,
    /// The targets; the one of `target:` has no name.
    pub targets: Vec<Target>,
    /// Hosts under test. Reaching their limits is a valid result.
    pub under_test: Vec<Spanned<String>>,
    /// HTTP settings.
    pub http: Http,
    /// The services of gRPC targets.
    pub grpc: Grpc,
    /// WebSocket settings.
    pub ws: WebSocket,
    /// Owner of a connection in scenarios that name none; copied into them.
    pub connection: Option<Spanned<Connection>>,
    /// Connections of the shared pool; copied into the phases.
    pub connections: Option<Spanned<u64>>,
    /// Source addresses, in the form of `--source`.
    pub sources: Option<Spanned<Sources>>,
    /// Rows of data.
    pub data: Vec<DataSource>,
    /// Named steps.
    pub blocks: Vec<Block>,
    /// Steps that run once, before the load.
    pub before: Vec<Step>,
    /// The journeys; the one of a top-level `steps:` has no name.
    pub scenarios: Vec<Scenario>,
    /// The top-level phases.
    pub phases: Vec<Phase>,
    /// Time limit for everything after the last phase.
    pub drain: Option<Spanned<Nanos>>,
    /// Seed of all random choices.
    pub seed: Option<u64>,
    /// Rate at which connections are opened before a phase.
    pub open_rate: Option<Rate>,
    /// Lag above which a request is late.
    pub late_tolerance: Option<Nanos>,
    /// Names with values that are shown as `***`.
    pub redact: Vec<String>,
    /// Whether one request is sent before the load.
    pub probe: Option<bool>,
    /// Whether the target is queried for its number of held connections; `None`: if it is on this
    /// host.
    pub truth: Option<bool>,
    /// The user's labels.
    pub tags: Vec<(String, String)>,
    /// Conditions that must all pass.
    pub thresholds: Vec<Spanned<Condition>>,
    /// Conditions that end the run.
    pub stop: Vec<Spanned<Condition>>,
    /// Actions on hosts during the run.
    pub events: Vec<Event>,
    /// Steps that run once, after the load has ended.
    pub after: Vec<Step>,
    /// How errors name the settings.
    pub setting_names: SettingNames,
}

/// `auto`, or addresses.
#[derive(Clone, Debug, PartialEq)]
pub enum Sources {
    /// All addresses of the interface towards the target.
    Auto,
    /// The listed addresses.
    These(SourcesPlan),
}

/// An entry under `vars`.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Position of the name; the default position if only `--set` gives it.
    pub place: Span,
    /// Its value; `10k` without quotes is a number.
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

/// An action on a host during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Position in the file.
    pub place: Span,
    /// Time after the start of the load.
    pub when: Nanos,
    /// The host, or a pattern.
    pub host: Spanned<String>,
    /// The command.
    pub run: String,
    /// The command that reverts it.
    pub undo: Option<String>,
    /// Its duration; `None`: until the end of the run.
    pub lasts: Option<Nanos>,
}
