//! The top of the file.

use wavetank_grammar::{Node, Span, Spanned};
use wavetank_plan::{PlannedEvent, SettingNames, SourcesPlan, parse_sources};
use wavetank_units::{Code, Nanos};

use super::{Keys, Parser, TreeReader as _};
use crate::grammar::MapName;
use crate::model::{Block, Event, Experiment, Scenario, Sources, Variable};

/// Parses the whole file, with its variables in `reader`.
pub(crate) fn read_experiment(reader: &mut Parser<'_>, root: &Node) -> Option<Experiment> {
    let mut keys = Keys::open(reader, root, MapName::Experiment)?;
    keys.version(reader, "wavetank");
    let name = keys.take("name").and_then(|node| reader.name(node, "an experiment"));
    let about = keys.take("about").and_then(|node| reader.text(node, "a text")).map(|about| about.value);
    keys.take("vars");
    let vars = reader.variables();
    let targets = reader.all_targets(&mut keys);
    let scenarios = reader.all_scenarios(&mut keys);
    let connection = keys.take("connection").and_then(|node| reader.connection(node));
    let connections = keys.take("connections").and_then(|node| reader.count_positive(node));
    let mut experiment = Experiment {
        name,
        about,
        vars,
        targets,
        under_test: keys.take("under_test").map(|node| reader.texts(node, "a host")).unwrap_or_default(),
        http: keys.take("http").and_then(|node| reader.http(node)).unwrap_or_default(),
        grpc: keys.take("grpc").and_then(|node| reader.grpc(node)).unwrap_or_default(),
        ws: keys.take("ws").and_then(|node| reader.web_socket(node)).unwrap_or_default(),
        connection,
        connections,
        sources: keys.take("sources").and_then(|node| reader.sources(node)),
        data: keys.take("data").map(|node| reader.data(node)).unwrap_or_default(),
        blocks: keys.take("blocks").map(|node| reader.blocks(node)).unwrap_or_default(),
        before: keys.take("before").map(|node| reader.steps(node)).unwrap_or_default(),
        scenarios,
        phases: keys.take("phases").map(|node| reader.phases(node)).unwrap_or_default(),
        drain: keys.take("drain").and_then(|node| reader.duration(node)),
        seed: keys.take("seed").and_then(|node| reader.seed(node)),
        open_rate: keys.take("open_rate").and_then(|node| reader.rate(node)).map(|rate| rate.value),
        late_tolerance: keys.take("late_tolerance").and_then(|node| reader.duration(node)).map(|at| at.value),
        redact: keys.take("redact").map(|node| reader.words(node)).unwrap_or_default(),
        probe: keys.take("probe").and_then(|node| reader.bool(node)),
        truth: keys.take("truth").and_then(|node| reader.bool(node)),
        tags: keys.take("tags").map(|node| reader.tags(node)).unwrap_or_default(),
        thresholds: keys.take("thresholds").map(|node| reader.conditions(node)).unwrap_or_default(),
        stop: keys.take("stop").map(|node| reader.conditions(node)).unwrap_or_default(),
        events: keys.take("events").map(|node| reader.events(node)).unwrap_or_default(),
        after: keys.take("after").map(|node| reader.steps(node)).unwrap_or_default(),
        setting_names: SettingNames::Keys,
    };
    keys.finish();
    experiment.share_connections();
    Some(experiment)
}

impl Experiment {
    /// Copies the top-level owner and number of connections to where they apply.
    fn share_connections(&mut self) {
        for scenario in &mut self.scenarios {
            scenario.connection = scenario.connection.or(self.connection.as_ref().map(|own| own.value));
        }
        let own = self.scenarios.iter_mut().flat_map(|scenario| &mut scenario.phases);
        for phase in self.phases.iter_mut().chain(own) {
            phase.pool = self.connections.as_ref().map(|own| own.value).filter(|_| phase.has_requests());
        }
    }
}

impl Parser<'_> {
    fn variables(&mut self) -> Vec<Variable> {
        let vars = self.vars;
        let all = vars.all.iter().map(|(name, place, node)| {
            Some(Variable { name: name.clone(), place: *place, value: self.variable_value(node)? })
        });
        all.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    fn all_targets(&mut self, keys: &mut Keys<'_>) -> Vec<crate::model::Target> {
        let (one, several) = (keys.entry("target"), keys.entry("targets"));
        if let (Some(_), Some(several)) = (one, several) {
            let hint = "keep one of the two; named targets also work for a single target";
            self.fail::<()>(
                Code::TargetBoth,
                several.place,
                "`target` and `targets` exclude each other",
                hint,
            );
        }
        let mut all: Vec<_> = several.map(|entry| self.targets(&entry.value)).unwrap_or_default();
        all.extend(one.and_then(|entry| self.target(&entry.value)));
        all
    }

    fn all_scenarios(&mut self, keys: &mut Keys<'_>) -> Vec<Scenario> {
        let (steps, several) = (keys.entry("steps"), keys.entry("scenarios"));
        if let (Some(steps), Some(_)) = (steps, several) {
            let hint = "keep one of the two: put the steps into a scenario";
            self.fail::<()>(Code::StepsBoth, steps.place, "`steps` and `scenarios` exclude each other", hint);
        }
        let mut all: Vec<_> = several.map(|entry| self.scenarios(&entry.value)).unwrap_or_default();
        all.extend(
            steps.map(|entry| Scenario {
                steps: self.steps(&entry.value),
                ..Scenario::empty(None, entry.place)
            }),
        );
        all
    }

    fn sources(&mut self, node: &Node) -> Option<Spanned<Sources>> {
        let place = node.place;
        let words = self.texts(node, "a source address");
        if let [only] = words.as_slice()
            && only.value == "auto"
        {
            return Some(Spanned::new(Sources::Auto, place));
        }
        let joined = words.iter().map(|word| word.value.as_str()).collect::<Vec<_>>().join(",");
        match parse_sources(&joined) {
            Ok(ranges) => {
                let plan = SourcesPlan { ranges, ..SourcesPlan::default() };
                Some(Spanned::new(Sources::These(plan), place))
            }
            Err(error) => {
                self.out.push(wavetank_grammar::Diagnostic::from_error(
                    error,
                    words.first().map_or(place, |word| word.place),
                ));
                None
            }
        }
    }

    fn blocks(&mut self, node: &Node) -> Vec<Block> {
        let entries = self.entries(node, "blocks");
        let all = entries.iter().map(|entry| {
            self.open_call = None;
            let name = self.user_defined_name(entry, "a block");
            let steps = self.steps(&entry.value);
            Some(Block { name: name?, steps })
        });
        all.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    fn seed(&mut self, node: &Node) -> Option<u64> {
        let text = self.text(node, "a seed")?;
        let Ok(seed) = text.value.parse() else {
            return self.fail(
                Code::BadSeed,
                text.place,
                format!("`{}` is not a seed", text.value),
                "a whole number: 42",
            );
        };
        Some(seed)
    }

    fn words(&mut self, node: &Node) -> Vec<String> {
        self.texts(node, "a name").into_iter().map(|text| text.value).collect()
    }

    fn tags(&mut self, node: &Node) -> Vec<(String, String)> {
        let entries = self.entries(node, "tags");
        let all =
            entries.iter().map(|entry| Some((entry.key.clone(), self.text(&entry.value, "a tag")?.value)));
        all.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    fn conditions(&mut self, node: &Node) -> Vec<Spanned<wavetank_plan::Condition>> {
        self.each(node, Self::condition)
    }

    fn events(&mut self, node: &Node) -> Vec<Event> {
        let items = self.list(node, "events");
        let all = items.iter().map(|item| {
            let mut keys = Keys::open(self, item, MapName::Event)?;
            let when = keys.require(self, "when").and_then(|node| self.duration(node));
            let host = keys.require(self, "host").and_then(|node| self.text(node, "a host"));
            let run = keys.require(self, "run").and_then(|node| self.text(node, "a command"));
            let undo = keys.take("undo").and_then(|node| self.text(node, "a command"));
            let lasts = keys.take("for").and_then(|node| self.duration_positive(node));
            let place: Span = keys.place;
            keys.finish();
            let (when, host, run) = (when?.value, host?, run?.value);
            self.fitting(&run, undo.as_ref(), lasts.as_ref())?;
            let (undo, lasts) = (undo.map(|undo| undo.value), lasts.map(|lasts| lasts.value));
            Some(Event { place, when, host, run, undo, lasts })
        });
        all.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// Checks that the keys of an event fit its command. A fault or a pool change reverts itself,
    /// and a command without `undo` cannot have a duration.
    fn fitting(
        &mut self,
        run: &str,
        undo: Option<&Spanned<String>>,
        lasts: Option<&Spanned<Nanos>>,
    ) -> Option<()> {
        match (PlannedEvent::is_self_reverting(run), undo, lasts) {
            (true, Some(undo), _) => {
                let what = if PlannedEvent::fault(run).is_some() { "a fault" } else { "a change of a pool" };
                let hint =
                    format!("leave undo out: {what} is reverted after `for`, at the end and on any abort");
                self.fail(Code::EventUndo, undo.place, format!("{what} has its own undo"), hint)
            }
            (false, None, Some(lasts)) => {
                let message = "`for` says when to revert it, but nothing says how";
                self.fail(Code::EventUndo, lasts.place, message, "add undo: COMMAND")
            }
            _ => Some(()),
        }
    }
}
