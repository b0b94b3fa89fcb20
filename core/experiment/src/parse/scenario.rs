//! `scenarios`.

use wavetank_grammar::{Entry, Node, Span, Spanned};
use wavetank_units::Code;

use super::{Keys, Parser, TreeReader as _};
use crate::grammar::MapName;
use crate::model::{Connection, Scenario};

const CONNECTIONS: [(&str, Connection); 4] = [
    ("user", Connection::User),
    ("session", Connection::Session),
    ("request", Connection::Request),
    ("shared", Connection::Shared),
];

impl Scenario {
    /// Creates a scenario without steps.
    pub(crate) fn empty(name: Option<Spanned<String>>, place: Span) -> Self {
        Self {
            name,
            place,
            weight: None,
            phases: Vec::new(),
            before: Vec::new(),
            steps: Vec::new(),
            after: Vec::new(),
            connection: None,
            think: None,
            pace: None,
            target: None,
            on_failure: None,
        }
    }
}

impl Parser<'_> {
    /// `scenarios:`.
    pub(super) fn scenarios(&mut self, node: &Node) -> Vec<Scenario> {
        if node.items().is_some() {
            let hint = "scenarios: {browser: {weight: 1, steps: […]}}";
            self.fail::<()>(Code::NotAMap, node.place, "scenarios have names, but this is a list", hint);
            return Vec::new();
        }
        let entries = self.entries(node, "scenarios");
        entries.iter().filter_map(|entry| self.scenario(entry)).collect()
    }

    /// `connection:`.
    pub(super) fn connection(&mut self, node: &Node) -> Option<Spanned<Connection>> {
        let owner = self.one_of(node, "owner of a connection", &CONNECTIONS)?;
        Some(Spanned::new(owner, node.place))
    }

    fn scenario(&mut self, entry: &Entry) -> Option<Scenario> {
        let name = self.user_defined_name(entry, "a scenario");
        let mut keys = Keys::open(self, &entry.value, MapName::Scenario)?;
        let both = keys.has("weight").then(|| keys.entry("phases")).flatten();
        if let Some(phases) = both {
            let hint = "keep one of the two: with a weight it takes part in the top-level phases; its own phases run in parallel with them";
            let message = "a scenario has both a weight and its own phases";
            self.fail::<()>(Code::ScenarioBoth, phases.place, message, hint);
        }
        self.open_call = None;
        let scenario = Scenario {
            name,
            place: entry.place,
            weight: keys.take("weight").and_then(|node| self.count_positive(node)),
            phases: keys.take("phases").map(|node| self.phases(node)).unwrap_or_default(),
            before: keys.take("before").map(|node| self.steps(node)).unwrap_or_default(),
            steps: keys.take("steps").map(|node| self.steps(node)).unwrap_or_default(),
            after: keys.take("after").map(|node| self.steps(node)).unwrap_or_default(),
            connection: keys
                .take("connection")
                .and_then(|node| self.connection(node))
                .map(|connection| connection.value),
            think: keys.take("think").and_then(|node| self.think(node)),
            pace: keys.take("pace").and_then(|node| self.duration_positive(node)).map(|pace| pace.value),
            target: keys.take("target").and_then(|node| self.name(node, "a target")),
            on_failure: keys.take("on_failure").and_then(|node| self.on_failure(node)),
        };
        keys.finish();
        scenario.name.is_some().then_some(scenario)
    }
}
