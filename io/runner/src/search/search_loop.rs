//! [`run_search`]: makes the runs that the search requests.

use std::net::SocketAddr;
use std::time::Duration;

use wavetank_driver::{Clock, Signals, WallClock};
use wavetank_plan::{Condition, Plan};
use wavetank_record::{Blame, Number, RunRecord, SearchDoc, SearchRunDoc, Status, WallTime};
use wavetank_report::{engine_line, level_text};
use wavetank_search::{RunOutcome, RunRequest, SearchVariable, SearchWithLiveness, StopReason};
use wavetank_store::{RunsDir, SearchFolder, new_id};
use wavetank_units::{ExitCode, Nanos, Sentence, UserError, sentence, unix_path};

use super::doc::SearchContext;
use super::level::length_for;
use super::settings::{SearchSettings, SearchedLoad};
use super::verdict::judged;
use crate::{
    Execution, FinishedRun, Host, MetricsOutputs, PreparedRun, RunConsole, SearchControl, SearchIdentity,
    SharedOutputs, execute, host_error,
};

/// Approximate time per run for creating threads, opening connections and storing.
const AROUND: Nanos = Nanos::from_millis(300);
/// Time between two checks for signals during a pause.
const LOOK: Duration = Duration::from_millis(20);

/// A search in progress.
struct SearchLoop<'a> {
    aim: &'a dyn SearchedLoad,
    args: &'a SearchSettings,
    host: &'a Host,
    search: SearchWithLiveness,
    context: SearchContext<'a>,
    /// The thresholds.
    conditions: Vec<Condition>,
    folder: Option<SearchFolder>,
    clock: Clock,
    signals: Signals,
    /// The target's latency from the probe of the first run.
    latency: Option<Nanos>,
    /// Where the metrics of each run go.
    metrics: Option<&'a SharedOutputs>,
    /// What other processes see of it.
    control: &'a SearchControl,
}

/// Searches for the highest level that passes. The returned line says where the search is stored.
///
/// # Errors
/// Only before anything was sent, where this host cannot.
pub fn run_search(
    aim: &dyn SearchedLoad,
    args: &SearchSettings,
    (host, metrics): (&Host, Option<&SharedOutputs>),
    console: &mut dyn RunConsole,
) -> Result<(SearchDoc, Option<String>), UserError> {
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let clock = Clock::starting_now();
    let mut first = aim.plan_run(args.setup.from, args.limits.length, args.setup.seed)?;
    let needed = length_for(&first.plan.thresholds, args.setup.from);
    if args.sought == SearchVariable::Rate && needed > args.limits.length {
        // Remarks on a plan with the shorter length do not apply.
        first = aim.plan_run(args.setup.from, needed, args.setup.seed)?;
    }
    announce(args, &first, console);
    let started = WallTime(WallClock::unix_ns().unsigned_abs());
    let targets: Vec<_> = first.plan.targets.iter().map(|target| target.url.as_str()).collect();
    let context = SearchContext {
        settings: args,
        name: first.plan.name.clone(),
        id: new_id(),
        target: targets.join(", "),
        thresholds: first.plan.thresholds.iter().map(|one| one.text.clone()).collect(),
        started,
        runs: Vec::new(),
        remarks: first.remarks.iter().map(Sentence::quoted).collect(),
        notes: None,
        broken_exit: None,
    };
    let folder = folder(args, &context, console);
    let (search, conditions) = (SearchWithLiveness::new(args.setup), first.plan.thresholds.clone());
    let control = listen(&context, folder.as_ref(), clock, console);
    let mut course = SearchLoop {
        aim,
        args,
        host,
        search,
        context,
        conditions,
        folder,
        clock,
        signals,
        latency: None,
        metrics,
        control: &control,
    };
    course.go(console);
    let doc = course.doc();
    let whole = course.store(&doc, console);
    let kept = course.folder.as_ref().map(|folder| kept(folder, whole));
    control.end(&doc);
    Ok((doc, kept))
}

/// Listens for processes that watch or stop the search.
fn listen(
    context: &SearchContext<'_>,
    folder: Option<&SearchFolder>,
    clock: Clock,
    console: &mut dyn RunConsole,
) -> SearchControl {
    let shown = |folder: &SearchFolder| {
        let path = std::path::absolute(folder.path());
        path.unwrap_or_else(|_| folder.path().to_owned()).to_string_lossy().into_owned()
    };
    let identity = SearchIdentity {
        id: &context.id,
        name: &context.name,
        target: &context.target,
        of: context.settings.sought.name(),
        folder: folder.map(shown),
    };
    SearchControl::listen(identity, clock, console)
}

/// Says where the search is stored, and whether it is complete.
fn kept(folder: &SearchFolder, whole: bool) -> String {
    let shown = folder.path().display();
    match (whole, SearchFolder::open(folder.path())) {
        (true, _) => format!("archive    {shown}"),
        (false, Some(_)) => {
            format!("archive    {shown}, without the result: search.json is older than the last run")
        }
        (false, None) => format!("archive    {shown}, without the result: search.json could not be written"),
    }
}

/// Prints what the search is going to do and how long it takes.
fn announce(args: &SearchSettings, first: &PreparedRun, console: &mut dyn RunConsole) {
    let level = |level: f64| level_text(args.sought.name(), Number(level));
    let (fewest, most) = args.setup.runs_expected();
    let needed = |at: f64| match args.sought {
        SearchVariable::Rate => args.limits.length.max(length_for(&first.plan.thresholds, at)),
        SearchVariable::Users | SearchVariable::Connections => args.limits.length,
    };
    let around = args.limits.warmup.0 + args.limits.settle.0 + AROUND.0;
    let each = |at: f64| Nanos(needed(at).0 + around).as_secs_f64();
    let (soonest, longest) = args.setup.seconds_expected(&each);
    let about = |seconds: f64| Nanos((seconds * 1e9) as i64);
    let span = |least: String, most: String| if least == most { least } else { format!("{least} to {most}") };
    let ended = args.limits.max_time.filter(|most| most.as_secs_f64() < longest);
    console.info(&format!(
        "search     {} from {} to {}: about {} runs of {}, {}{}",
        args.sought.name(),
        level(args.setup.from),
        level(args.setup.to),
        span(fewest.to_string(), most.to_string()),
        span(needed(args.setup.to).to_string(), needed(args.setup.from).to_string()),
        span(about(soonest).to_string(), about(longest).to_string()),
        ended.map_or(String::new(), |most| format!("; --max-time ends it after {most}"))
    ));
    console.info(&engine_line(first.plan.engine, first.engine_why.as_ref()));
    let needed = needed(args.setup.from);
    if needed > args.limits.length {
        console.info(&format!(
            "note       runs at low rates last longer, {needed} at {}: a percentile needs enough samples",
            level(args.setup.from)
        ));
    }
    for remark in &first.remarks {
        console.info(&format!("note       {remark}"));
    }
}

/// Creates the search's directory, if it is to be stored and the disk allows it.
fn folder(
    args: &SearchSettings,
    context: &SearchContext<'_>,
    console: &mut dyn RunConsole,
) -> Option<SearchFolder> {
    let made = SearchFolder::create(
        &RunsDir::new(args.runs_dir.as_ref()?),
        context.started,
        &context.name,
        &context.id,
    );
    match made {
        Ok(folder) => Some(folder),
        Err(problem) => {
            console.warn(&format!("{problem}; this search keeps no archive\nhint: {}", problem.hint()));
            None
        }
    }
}

/// Returns the time in which the target answered most requests of a run. The probe took longer: it
/// was the first request. A pool made for the probe's time has connections that nothing needs.
fn usual_latency(record: &RunRecord) -> Option<Nanos> {
    let spread = record.service_us.spread.as_ref().filter(|spread| !spread.is_unknown("p90"))?;
    Some(Nanos((spread.p90.0 * 1e3) as i64))
}

impl SearchLoop<'_> {
    fn go(&mut self, console: &mut dyn RunConsole) {
        while let Some(wanted) = self.search.next() {
            let length = self.length(wanted);
            let end = self.clock.now().after(length).after(self.args.limits.warmup);
            if self.args.limits.max_time.is_some_and(|most| end > most) {
                self.search.stop(StopReason::Time);
                break;
            }
            self.control.begin_run(Number(wanted.level), wanted.stage.name());
            self.run(wanted, length, console);
            let doc = self.doc();
            self.store(&doc, console);
            self.control.end_run(&doc);
            if self.search.next().is_some()
                && let Some(stop) = self.rest()
            {
                self.search.stop(stop);
            }
        }
    }

    /// Returns the requested length, or the length that the percentiles need if that is longer.
    fn length(&self, wanted: RunRequest) -> Nanos {
        let asked = Nanos(self.args.limits.length.0 * i64::from(wanted.stretch));
        match self.args.sought {
            SearchVariable::Rate => asked.max(length_for(&self.conditions, wanted.level)),
            SearchVariable::Users | SearchVariable::Connections => asked,
        }
    }

    fn run(&mut self, wanted: RunRequest, length: Nanos, console: &mut dyn RunConsole) {
        let number = self.context.runs.len() as u64;
        let seed = self.args.setup.seed.wrapping_add(number);
        let ready = self.aim.plan_run(wanted.level, length, seed);
        let behind = ready.as_ref().map_or(Blame::Unknown, |ready| behind(&ready.plan));
        let FinishedRun { record, resolved, archive, latency } =
            match ready.and_then(|ready| self.execute(ready, console)) {
                Ok(executed) => executed,
                Err(error) => return self.refused(wanted, &error, console),
            };
        self.latency = latency.map(|probe| probe.min(usual_latency(&record).unwrap_or(probe)));
        let resolved = (self.args.sought == SearchVariable::Rate).then_some(resolved);
        let mut judged = judged(&record, resolved, behind);
        if self.control.is_stopped() {
            judged.break_off(StopReason::Stopped);
        }
        let archive = archive.and_then(|folder| Some(folder.file_name()?.to_str()?.to_owned()));
        self.context.add(wanted, &judged, &record, archive);
        match judged.seen {
            Ok(seen) => self.search.result(seen, judged.silent, judged.kept),
            Err(stop) => {
                self.context.broken_exit = Some(record.verdict.exit);
                self.search.stop(stop);
            }
        }
        let p99 = match record.response_us.spread.as_ref() {
            None => String::new(),
            Some(spread) if spread.is_unknown("p99") => ", p99 > dropped".to_owned(),
            Some(spread) => format!(", p99 {}", Nanos((spread.p99.0 * 1e3) as i64)),
        };
        let result = judged.seen.map_or("stopped", RunOutcome::name);
        let why = if judged.why.is_empty() { String::new() } else { format!(" ({})", judged.why) };
        let level = level_text(self.args.sought.name(), Number(wanted.level));
        console.info(&format!("run {:<6} {level} {result}{p99}{why}", number + 1));
    }

    fn execute(&self, ready: PreparedRun, console: &mut dyn RunConsole) -> Result<FinishedRun, UserError> {
        let fleet = self.aim.connect_fleet(&ready.plan)?;
        // Only the first run sends a probe.
        let probe = ready.probe.filter(|_| self.context.runs.is_empty());
        let execution = Execution {
            prepared: PreparedRun { probe, ..ready },
            host: self.host,
            command: &self.args.command,
            runs_dir: self.folder.as_ref().map(SearchFolder::runs),
            repeatable: false,
            fleet,
            rehearsal: None,
            search: Some(self.control),
            known_latency: self.latency,
            samples_host: true,
            metrics: self.metrics.cloned().map(MetricsOutputs::Shared),
        };
        execute(execution, console)
    }

    /// This host cannot make the run. Nothing was sent, and earlier runs show what it can do.
    fn refused(&mut self, wanted: RunRequest, error: &UserError, console: &mut dyn RunConsole) {
        self.context.runs.push(SearchRunDoc {
            level: Number(wanted.level),
            stage: wanted.stage.name().to_owned(),
            result: RunOutcome::Generator.name().to_owned(),
            why: sentence!("{}", error.message),
            status: Status::Incomplete,
            blame: Blame::Generator,
            ..SearchRunDoc::default()
        });
        if error.exit == ExitCode::Refused {
            self.search.result(RunOutcome::Generator, false, 1.0);
        } else {
            console.warn_of(error);
            self.context.broken_exit = Some(error.exit as u8);
            self.search.stop(StopReason::Broken);
        }
    }

    /// Pauses after a level. Returns why the search must stop, if it must.
    fn rest(&self) -> Option<StopReason> {
        let until = self.clock.now().after(self.args.limits.settle);
        loop {
            self.control.serve_requests();
            if self.signals.received() > 0 {
                return Some(StopReason::Signal);
            }
            if self.control.is_stopped() {
                return Some(StopReason::Stopped);
            }
            if self.clock.now() >= until {
                return None;
            }
            std::thread::park_timeout(LOOK);
        }
    }

    fn doc(&self) -> SearchDoc {
        self.context.doc(&self.search.answer(), self.clock.now())
    }

    /// Stores the current state. Returns false if that failed; true if it succeeded or nothing is
    /// to be stored.
    fn store(&mut self, doc: &SearchDoc, console: &mut dyn RunConsole) -> bool {
        let Some(problem) = self.folder.as_ref().and_then(|folder| folder.write(doc).err()) else {
            return true;
        };
        let then = if self.search.next().is_some() {
            "the search continues"
        } else {
            "its result is reported without an archive"
        };
        console.warn(&format!("{problem}; {then}\nhint: {}", problem.hint()));
        false
    }
}

/// Returns the blame for a growing queue: the target, if no network and no proxy in between could
/// be the cause.
fn behind(plan: &Plan) -> Blame {
    let mut addresses = plan.targets.iter().flat_map(|target| &target.addresses);
    if plan.http.proxy.is_none() && on_loopback(&mut addresses) { Blame::Target } else { Blame::Unknown }
}

/// Whether there are addresses, and all of them belong to this host's loopback.
fn on_loopback(addresses: &mut dyn Iterator<Item = &SocketAddr>) -> bool {
    let mut addresses = addresses.peekable();
    addresses.peek().is_some()
        && addresses.all(|address| address.ip().to_canonical().is_loopback() || unix_path(*address).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_network_lies_before_addresses_that_are_all_loopback() {
        for (addresses, expected) in [
            (&["127.0.0.1:80"][..], true),
            (&["127.9.0.1:80", "[::1]:8080", "[::ffff:127.0.0.1]:80"], true),
            (&["10.0.0.5:80"], false),
            (&["127.0.0.1:80", "10.0.0.5:80"], false),
            (&[], false),
        ] {
            let addresses: Vec<SocketAddr> =
                addresses.iter().map(|one| one.parse().expect("an address")).collect();
            assert_eq!(on_loopback(&mut addresses.iter()), expected, "{addresses:?}");
        }
    }
}
