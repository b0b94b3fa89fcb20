//! `wavetank try FILE`: runs one user once and shows everything that happens.

use std::cell::RefCell;
use std::io::Write as _;

use wavetank_driver::{Clock, Signals};
use wavetank_engine::{EarlyEnd, LoadConfig, SingleUser, SingleUserLimits, TraceEvent, WalkResult};
use wavetank_experiment::{Experiment, LowerContext, LoweredPlan, Value, lower};
use wavetank_journey::Journeys;
use wavetank_plan::{EngineChoice, Guard, Plan, Scenario, Secret};
use wavetank_record::{TRY_SCHEMA, TryDoc, TryEvent, TryWalk};
use wavetank_runner::{
    Host, TargetAddresses, all_tables, check_sources_bindable, chosen_sources, host_error, tls_client,
};
use wavetank_units::{Code, ExitCode, UserError, did_you_mean};

use crate::cli::{FileFormat, TryArgs};
use crate::experiment::{DataLoading, ExperimentFile, with_absolute_paths};
use crate::output;
use crate::trace::{SecretScrubber, TraceRecorder, event_text, walk_title};

/// Reports every error that can be found before anything is sent. Exit 0 if the run was as
/// expected, else 1.
pub(crate) fn try_file(args: TryArgs) -> Result<u8, UserError> {
    let options = with_absolute_paths(args.options);
    let mut loaded = ExperimentFile::read(&args.file, &options, DataLoading::One)?;
    let Some(experiment) = loaded.experiment.take() else { return loaded.print_errors(args.file.format) };
    let host = Host::inspect()?;
    let names = TargetAddresses::new(&experiment);
    let tables = std::mem::take(&mut loaded.tables);
    let given: RefCell<Vec<Secret>> = RefCell::default();
    let lowering = LowerContext {
        host: &host.facts,
        tables: &tables,
        addresses: &|url| names.addresses(url),
        file: &|name| loaded.file(name),
        secret: &|name| {
            let secret = args.file.secret(name);
            given.borrow_mut().extend(secret.clone());
            secret
        },
        sources: chosen_sources(&experiment, &options, false, &names, &host)?,
        threads: Some(1),
        engine: options.engine.unwrap_or(EngineChoice::Auto),
    };
    // One user can run even if this host lacks resources for the load.
    let LoweredPlan { plan, .. } =
        lower(&experiment, &lowering).map_err(|unfit| unfit.into_user_error(&loaded.name))?;
    let wanted = wanted(&plan, &args.scenarios)?;
    names.admit(&Guard::new(options.allow_target), &plan, &args.command)?;
    check_sources_bindable(&plan)?;
    let tls = tls_client(&plan)?;
    let means = LoadConfig {
        cpus: Vec::new(),
        ports: host.source_ports(),
        namespaces: Vec::new(),
        features: host.found.features,
        tls,
        journeys: Journeys::new(&plan, all_tables(&experiment, tables)?)?,
    };
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let cancelled = || signals.received() > 0;
    let alone = SingleUser::new(&plan, &means, Clock::starting_now(), &cancelled)?;
    if !loaded.diagnostics.is_empty() && args.file.format == FileFormat::Text {
        // If stderr is closed, stdout still gets the trace.
        let _ = std::io::stderr().write_all(loaded.rendered().as_bytes());
    }
    let mut attempt = TryRun {
        plan: &plan,
        alone: alone.within(SingleUserLimits { sleeps: args.think, requests_max: args.requests }),
        secrets: secrets(&experiment, &given.into_inner()),
        shown: TryOutput { format: args.file.format, walks: Vec::new(), unprinted: None },
        counts: vec![0; plan.shared.counts.len()],
        ended: None,
    };
    attempt.all(&wanted);
    attempt.conclude(cancelled())
}

/// Returns the indices of the scenarios to run in the plan.
fn wanted(plan: &Plan, names: &[String]) -> Result<Vec<u16>, UserError> {
    let all: Vec<&str> = plan.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    let place = |name: &str| all.iter().position(|own| *own == name && !own.is_empty());
    let of = |name: &String| {
        let place = place(name).and_then(|place| u16::try_from(place).ok());
        place.ok_or_else(|| {
            let message = format!("the file has no scenario `{name}`");
            let hint = match (did_you_mean(name, all.iter().copied()), all.as_slice()) {
                (Some(near), _) => format!("--scenario {near}?"),
                (None, [""]) => "its one scenario has no name: leave --scenario out".to_owned(),
                (None, all) => format!("it has {}", all.join(", ")),
            };
            UserError::usage(Code::ScenarioUnknown, message, hint)
        })
    };
    if names.is_empty() {
        return Ok((0_u16..).zip(&all).map(|(place, _)| place).collect());
    }
    names.iter().map(of).collect()
}

/// Returns the values to hide: every secret in a template, and the variables that the file redacts.
fn secrets(experiment: &Experiment, given: &[Secret]) -> SecretScrubber {
    let mut secrets = SecretScrubber::from_names(&experiment.redact);
    for secret in given {
        secrets.add(secret.reveal());
    }
    for var in experiment.vars.iter().filter(|var| secrets.is_name(&var.name)).collect::<Vec<_>>() {
        match &var.value {
            Value::Text(text) => text.as_fixed().iter().for_each(|text| secrets.add(text)),
            Value::Number(digits) => secrets.add(digits),
            _ => {}
        }
    }
    secrets
}

/// One user's walk through the requested scenarios.
struct TryRun<'a> {
    plan: &'a Plan,
    alone: SingleUser<'a>,
    secrets: SecretScrubber,
    shown: TryOutput,
    /// Requests by index of the scenario in the plan.
    counts: Vec<u64>,
    /// Why the whole walk ended early.
    ended: Option<EarlyEnd>,
}

/// Output, printed immediately or at the end.
struct TryOutput {
    format: FileFormat,
    walks: Vec<TryWalk>,
    /// Error of the first write to stdout that failed.
    unprinted: Option<UserError>,
}

impl TryRun<'_> {
    fn all(&mut self, wanted: &[u16]) {
        let plan = self.plan;
        let mut given = Vec::new();
        if let Some(scenario) = &plan.around.before {
            let walked = self.walk(("before", scenario), |alone, watch| alone.before(watch));
            // After this failure, a run would send no load.
            if walked.failed > 0 || walked.early.is_some_and(|early| early != EarlyEnd::Session) {
                self.ended = Some(walked.early.unwrap_or(EarlyEnd::Failure));
                return;
            }
            given = walked.variables;
        }
        for &place in wanted {
            let scenario = &plan.scenarios[usize::from(place)];
            let walked =
                self.walk(("scenario", scenario), |alone, watch| alone.scenario(place, &given, watch));
            if matches!(walked.early, Some(EarlyEnd::Run | EarlyEnd::Cancelled)) {
                self.ended = walked.early;
                break;
            }
        }
        if let Some(scenario) = &plan.around.after
            && self.ended != Some(EarlyEnd::Cancelled)
        {
            let counts = self.counts.clone();
            self.walk(("after", scenario), |alone, watch| alone.after(&given, &counts, watch));
        }
    }

    fn walk(
        &mut self,
        (part, scenario): (&str, &Scenario),
        go: impl FnOnce(&mut SingleUser<'_>, &mut dyn FnMut(TraceEvent<'_>)) -> WalkResult,
    ) -> WalkResult {
        let shown = &mut self.shown;
        shown.begin(part, &scenario.name);
        let mut report = |event: TryEvent| shown.event(event);
        let mut story = TraceRecorder::new((scenario, &self.plan.targets), &mut self.secrets, &mut report);
        let walked = go(&mut self.alone, &mut |happened| story.record(happened));
        self.shown.end(&walked);
        for (sum, count) in self.counts.iter_mut().zip(&walked.counts) {
            *sum += count;
        }
        walked
    }

    fn conclude(self, cancelled: bool) -> Result<u8, UserError> {
        let TryOutput { format, walks, unprinted } = self.shown;
        let failed = walks.iter().any(|walk| walk.failed > 0);
        let exit = match (cancelled, failed) {
            (true, _) => ExitCode::Signal,
            (false, true) => ExitCode::Fail,
            (false, false) => ExitCode::Pass,
        };
        let notes = self.ended.map(|early| match early {
            EarlyEnd::Cancelled => "interrupted: the rest is not tried",
            EarlyEnd::Run => "the run would end here: the other scenarios are not tried",
            EarlyEnd::Failure | EarlyEnd::Session => {
                "before failed: a run would send no load, and the rest is not tried"
            }
        });
        let mut notes: Vec<String> = notes.into_iter().map(str::to_owned).collect();
        if walks.iter().all(|walk| walk.sent + walk.failed == 0) && exit == ExitCode::Pass {
            notes.push("there was nothing to send: no step is a request that was reached".to_owned());
        }
        match format {
            FileFormat::Text => output::print_sent(&summary(&walks, &notes, exit))?,
            FileFormat::Json => {
                let doc = TryDoc {
                    schema: TRY_SCHEMA.to_owned(),
                    name: self.plan.name.clone(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    ok: exit == ExitCode::Pass,
                    exit: exit as u8,
                    walks,
                    notes,
                };
                output::print_sent(&(doc.to_json() + "\n"))?;
            }
        }
        unprinted.map_or(Ok(exit as u8), Err)
    }
}

impl TryOutput {
    fn begin(&mut self, part: &str, name: &str) {
        let name = if part == "scenario" { name } else { "" };
        self.walks.push(TryWalk { part: part.to_owned(), name: name.to_owned(), ..TryWalk::default() });
        let above = if self.walks.len() > 1 { "\n" } else { "" };
        self.print(&format!("{above}== {}\n", walk_title(part, name)));
    }

    fn event(&mut self, event: TryEvent) {
        match self.format {
            FileFormat::Text => self.print(&event_text(&event)),
            FileFormat::Json => {
                if let Some(walk) = self.walks.last_mut() {
                    walk.events.push(event);
                }
            }
        }
    }

    fn end(&mut self, walked: &WalkResult) {
        if let Some(walk) = self.walks.last_mut() {
            (walk.sent, walk.done, walk.failed) = (walked.sent, walked.done, walked.failed);
        }
    }

    fn print(&mut self, text: &str) {
        if self.format == FileFormat::Text
            && self.unprinted.is_none()
            && let Err(error) = output::print_sent(text)
        {
            self.unprinted = Some(error);
        }
    }
}

/// Returns the final summary.
fn summary(walks: &[TryWalk], notes: &[String], exit: ExitCode) -> String {
    let sum = |of: fn(&TryWalk) -> u64| walks.iter().map(of).sum::<u64>();
    let word = match exit {
        ExitCode::Pass => "as expected",
        ExitCode::Signal => "interrupted",
        _ => "FAILED",
    };
    let (sent, done, failed) = (sum(|walk| walk.sent), sum(|walk| walk.done), sum(|walk| walk.failed));
    let mut text =
        format!("\nresult     {word} · requests sent {sent} · steps done {done}, failed {failed}\n");
    for note in notes {
        text.extend(["note       ", note, "\n"]);
    }
    text
}
