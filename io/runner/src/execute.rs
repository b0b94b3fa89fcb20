//! [`execute`]: a plan becomes a record. Probe, archive, threads, control loop, verdict.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_diagnose::{RunContext, RunEnd};
use wavetank_driver::{Clock, Signals, TlsClient, WallClock};
use wavetank_engine::LoadConfig;
use wavetank_journey::Journeys;
use wavetank_measure::Selection;
use wavetank_observe::{HostSampler, process_usage};
use wavetank_plan::{HostFacts, LoadOrigin, Plan, Unsupported};
use wavetank_record::{EnvironmentDoc, HostDoc, LoadDoc, PlanDoc, RunRecord, Setup, WallTime, engine_name};
use wavetank_report::{RunFacts, build_record, load_doc};
use wavetank_store::{ArchiveWriter, RunMeta, RunsDir, new_id};
use wavetank_units::quantity::format_grouped;
use wavetank_units::{Nanos, Sentence, UserError, unix_path};

use super::event_runner::ExecutorFactory;
use super::fleet_load::FleetLoad;
use super::fleet_package::FleetPackage;
use super::host_error::host_error;
use super::live_metrics::{LiveMetrics, MetricsOutputs};
use super::remote_hosts::RemoteHosts;
use super::run_control::LiveRun;
use super::servers_counted::ServersCounted;
use super::service_logs::archive_service_logs;
use super::usage_at_start::UsageAtStart;
use super::{
    FleetResult, HookResults, Host, LabRun, LabServer, LoadContext, LoadResult, PreparedRun, ProbeResult,
    RunConsole, RunControl, SamplingConfig, SearchControl, probe, run_load,
};

/// What to execute, and around what.
pub struct Execution<'a> {
    /// The load, and what is known before anything is sent.
    pub prepared: PreparedRun,
    /// The host that controls the run.
    pub host: &'a Host,
    /// The command as typed, without secrets.
    pub command: &'a str,
    /// Where to keep the archive, if anywhere.
    pub runs_dir: Option<RunsDir>,
    /// The command can be typed again, so that advice may build on it.
    pub repeatable: bool,
    /// The fleet that sends the load; `None`: this host sends it.
    pub fleet: Option<FleetLoad>,
    /// What this is a rehearsal of, if it is not the load that was planned.
    pub rehearsal: Option<Sentence>,
    /// The search that it is a level of, if any: a full generator then voids it.
    pub search: Option<&'a SearchControl>,
    /// The target's latency from an earlier probe, if this run sends none.
    pub known_latency: Option<Nanos>,
    /// Whether this host is sampled, if it sends the load. Samples take memory, which a calibration
    /// measures.
    pub samples_host: bool,
    /// Where metrics go while the run is in progress, if anywhere.
    pub metrics: Option<MetricsOutputs>,
}

/// A finished run.
pub struct FinishedRun {
    /// What was measured, and the verdict.
    pub record: RunRecord,
    /// Requests that were answered, failed or were dropped in the time that its rates are of.
    pub resolved: u64,
    /// The archive's folder, if there is one.
    pub archive: Option<std::path::PathBuf>,
    /// The target's latency, if a probe has measured it.
    pub latency: Option<Nanos>,
}

/// Runs the plan.
///
/// # Errors
/// If this host cannot start the load. Nothing was sent then.
pub fn execute(execution: Execution<'_>, console: &mut dyn RunConsole) -> Result<FinishedRun, UserError> {
    let Execution { prepared, host, command, runs_dir, repeatable, rehearsal, .. } = execution;
    let PreparedRun { plan, load, engine_why, tls, probe: wants_probe, tables, guard, truth, .. } = prepared;
    let (search, fleet, metrics) = (execution.search, execution.fleet, execution.metrics);
    let knee_sought = search.is_some();
    let plan = host.lab.as_ref().map_or_else(|| Ok(Arc::clone(&plan)), |lab| lab.with_events(&plan))?;
    let executor = host.lab.as_ref().filter(|_| !plan.events.is_empty()).map(|lab| || lab.event_executor());
    let executors = executor.as_ref().map(|executor| executor as ExecutorFactory<'_>);
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let clock = Clock::starting_now();
    let wall_at_zero = WallClock::unix_ns() - clock.now().0;
    let remote = RemoteHosts::start(&host.facts.observed_hosts, clock, signals)?.map(RefCell::new);
    let (counted, probes) = (host.lab.as_ref().map(LabRun::counts), wants_probe.is_some());
    let probed =
        wants_probe.map_or_else(ProbeResult::none, |one| probe(&one, clock, host, tls.as_ref(), signals));
    let (mut notes, latency) = (print_notes(&probed, console), probed.latency.or(execution.known_latency));
    let (plan, load) = with_pools(probed.reached(plan), load, latency, console);
    let (yaml, before, mut control) = (PlanDoc::new(&plan).to_yaml(), UsageAtStart::now(), None);
    let started = WallTime((wall_at_zero + clock.now().0).unsigned_abs());
    let engine_why = engine_why.map(|Unsupported { cause, cure }| format!("{cause}: {cure}"));
    let surroundings = surroundings(host, &plan, command, started);
    let mut environment = EnvironmentDoc { load, rehearsal, probe: probed.doc, engine_why, ..surroundings };
    let hash = PlanDoc::hash(&yaml);
    let archive = archive(runs_dir.as_ref(), &plan.name, &yaml, &environment, started, console);
    let nothing = |ending, archive| (LoadResult::nothing(&plan, ending, archive), HookResults::default());
    let (mut result, bounds) = if signals.received() > 0 {
        nothing(RunEnd::Signal, archive)
    } else if let Some(failure) = probed.failure {
        let message = Sentence::quoted(failure.detail);
        nothing(RunEnd::ProbeFailed { class: failure.class, message }, archive)
    } else {
        let samples_host = execution.samples_host && host.lab.is_none();
        let fleet = fleet.map(|load| FleetPackage::new(load, &plan, &tables, samples_host));
        let config = load_config(host, tls, Journeys::new(&plan, tables)?);
        let (hosts, servers) = watched(host, &plan);
        let this_host = samples_host && fleet.is_none();
        let (silence, hosts, servers) = (knee_sought, hosts.as_slice(), servers.as_deref());
        let truth = SamplingConfig { truth, this_host, hosts, remote: remote.as_ref(), silence, servers };
        let (plan, hash, guard) = (&plan, hash.as_str(), &guard);
        let loss = || host.lab.as_ref().and_then(LabRun::loss);
        let loss = host.lab.is_some().then_some(&loss as &dyn Fn() -> Option<Sentence>);
        let seen =
            RunContext { same_host: same_host(plan, &host.facts), knee_sought, ..RunContext::default() };
        let metrics = LiveMetrics::start(metrics, plan, &environment, wall_at_zero)?;
        let live = LiveRun::new(&environment, hash, archive.as_ref(), seen);
        let control = &*control.insert(RunControl::listen(live, plan, search, console));
        let context =
            LoadContext { plan, hash, clock, signals, guard, command, truth, executors, loss, control };
        run_load(&context, (config, fleet), (archive, metrics), console)?
    };
    let zero = result.started.map(|zero| WallTime((wall_at_zero + zero.0).unsigned_abs()).rfc3339());
    environment.started_at = zero.unwrap_or(environment.started_at);
    let servers = ServersCounted::new(host.lab.as_ref(), counted, probes.then_some(&probed.setup));
    let around = ExecutionContext {
        servers,
        plan: &plan,
        hash,
        environment: &environment,
        host: &host.facts,
        before,
        repeatable,
        knee_sought,
        latency,
        bounds,
    };
    notes.extend(host.lab.iter().flat_map(|lab| lab.notes(&mut result, wall_at_zero)));
    let finished = conclude(result, &around, (probed.setup, notes), console);
    RunControl::end(control.as_ref(), &plan, &finished.record);
    Ok(finished)
}

/// Returns the environment of a run of `plan` on `host`, without what its load adds.
fn surroundings(host: &Host, plan: &Plan, command: &str, started: WallTime) -> EnvironmentDoc {
    EnvironmentDoc {
        id: new_id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.to_owned(),
        started_at: started.rfc3339(),
        load: LoadDoc::default(),
        rehearsal: None,
        probe: None,
        engine: engine_name(plan.engine).to_owned(),
        engine_why: None,
        host: HostDoc::from(&host.facts),
        lab: host.lab.as_ref().map(LabRun::doc),
    }
}

/// Prints and returns the notes of the probe.
fn print_notes(probed: &ProbeResult, console: &mut dyn RunConsole) -> Vec<Sentence> {
    let notes: Vec<Sentence> = probed.notes().collect();
    for note in &notes {
        console.info(&format!("note       {note}"));
    }
    notes
}

/// Returns the plan with its default pools limited, and its load as text.
fn with_pools(
    mut plan: Arc<Plan>,
    load: LoadDoc,
    latency: Option<Nanos>,
    console: &mut dyn RunConsole,
) -> (Arc<Plan>, LoadDoc) {
    let Some(limit) = Arc::make_mut(&mut plan).limit_default_pools(latency) else { return (plan, load) };
    console.info(&format!("pool       at most {} connections (-c)", format_grouped(limit)));
    let load = load_doc(&plan, load.defaults);
    (plan, load)
}

/// Returns samplers for the hosts of a lab, and its servers that report their own counts; `None`
/// outside of a lab.
fn watched(host: &Host, plan: &Plan) -> (Vec<(String, HostSampler)>, Option<Vec<LabServer>>) {
    let Some(lab) = &host.lab else { return (Vec::new(), None) };
    (lab.watches(), Some(lab.servers(plan)))
}

struct ExecutionContext<'a> {
    servers: ServersCounted<'a>,
    plan: &'a Plan,
    hash: String,
    environment: &'a EnvironmentDoc,
    host: &'a HostFacts,
    before: UsageAtStart,
    repeatable: bool,
    knee_sought: bool,
    latency: Option<Nanos>,
    bounds: HookResults,
}

impl ExecutionContext<'_> {
    /// Returns where the load came from, and how well its hosts could send it.
    fn circumstances(&self, fleet: Option<&FleetResult>) -> RunContext {
        // Agents in a lab share this machine's CPUs.
        let elsewhere = fleet.filter(|_| self.servers.lab().is_none());
        RunContext {
            same_host: same_host(self.plan, self.host),
            cpus: elsewhere.map_or(self.host.cpus.len() as u32, |fleet| fleet.cpus),
            steal: fleet.map_or_else(|| self.before.steal(), |fleet| fleet.steal),
            throttling: fleet.map_or_else(|| self.before.throttling(), |fleet| fleet.throttling),
            fleet: fleet.map(|fleet| fleet.gaps.clone()),
            knee_sought: self.knee_sought,
            rehearsal: self.environment.rehearsal.is_some(),
            ..RunContext::default()
        }
    }
}

/// Peak memory of this process, or of the agent with the most.
fn peak_rss_bytes(fleet: Option<&FleetResult>) -> u64 {
    fleet.map_or_else(|| process_usage().peak_rss_bytes, FleetResult::peak_rss_bytes)
}

/// What load threads need of `host`.
fn load_config(host: &Host, tls: Option<Arc<TlsClient>>, journeys: Journeys) -> LoadConfig {
    LoadConfig {
        cpus: host.facts.cpus.clone(),
        ports: host.source_ports(),
        namespaces: host.places(),
        features: host.found.features,
        tls,
        journeys,
    }
}

fn conclude(
    result: LoadResult,
    around: &ExecutionContext<'_>,
    (setup, notes): (Setup, Vec<Sentence>),
    console: &mut dyn RunConsole,
) -> FinishedRun {
    let LoadResult {
        mut ledger,
        ending,
        events,
        samples,
        archive,
        mut lost,
        accounting,
        faults,
        memory,
        fleet,
        ..
    } = result;
    // What clients saw of a lab that is gone says nothing about its servers.
    lost.extend(around.servers.lab().and_then(LabRun::loss));
    let asked = result.setup;
    let setup = Setup {
        sent: setup.sent + asked.sent,
        done: setup.done + asked.done,
        failed: setup.failed + asked.failed,
    };
    // Noted in the ledger; the verdict speaks of it.
    let _ = ledger.close();
    let in_window = ledger.totals().view(Selection::Judged).in_window;
    let resolved = in_window.done + in_window.failed() + in_window.dropped();
    let mut circumstances = RunContext {
        lost,
        accounting,
        faults,
        before: around.bounds.before.clone(),
        after: around.bounds.after.clone(),
        ..around.circumstances(fleet.as_ref())
    };
    let read = around.servers.read();
    let logs = around.servers.add_evidence(read.as_ref(), &mut circumstances);
    let mut record = build_record(RunFacts {
        plan: around.plan,
        plan_hash: &around.hash,
        environment: around.environment,
        ledger: &ledger,
        ending: &ending,
        circumstances: &circumstances,
        cpu_s: fleet.as_ref().map_or_else(|| around.before.cpu_s(), FleetResult::cpu_s),
        peak_rss_bytes: peak_rss_bytes(fleet.as_ref()),
        connection_memory: memory,
        setup,
        events: &events,
        samples: &samples,
    });
    around.servers.add_to(read, around.plan, &mut record, console);
    record.notes.extend(notes);
    record.fleet = fleet.map(|fleet| fleet.doc);
    if !around.repeatable {
        record.next.clear();
    }
    let folder = archive.and_then(|mut archive| {
        archive_service_logs(&logs, around.plan, &mut archive, console);
        let finished = archive.finish(&record);
        finished.inspect_err(|problem| console.warn(&format!("{problem}\nhint: {}", problem.hint()))).ok()
    });
    FinishedRun { record, resolved, archive: folder, latency: around.latency }
}

/// Opens the archive, if one is requested. If the disk refuses, it prints that and the run
/// continues without one.
fn archive(
    runs_dir: Option<&RunsDir>,
    name: &str,
    plan_yaml: &str,
    environment: &EnvironmentDoc,
    started: WallTime,
    console: &mut dyn RunConsole,
) -> Option<ArchiveWriter> {
    let meta = RunMeta {
        name: name.to_owned(),
        id: environment.id.clone(),
        started,
        agent: "local".to_owned(),
        epoch: 1,
        plan_yaml: plan_yaml.to_owned(),
        environment: environment.clone(),
    };
    match ArchiveWriter::create(runs_dir?, &meta) {
        Ok(archive) => Some(archive),
        Err(problem) => {
            console.warn(&format!("{problem}; this run keeps no archive\nhint: {}", problem.hint()));
            None
        }
    }
}

/// Whether load and target share a host, so that they compete for its CPUs.
fn same_host(plan: &Plan, host: &HostFacts) -> bool {
    match host.origin {
        // A lab is one machine, whatever the addresses.
        LoadOrigin::Lab { .. } => return true,
        LoadOrigin::Fleet { .. } => return false,
        LoadOrigin::ThisHost => {}
    }
    let local = |address: &SocketAddr| {
        let ip = address.ip().to_canonical();
        ip.is_loopback() || host.addresses.contains(&ip) || unix_path(*address).is_some()
    };
    plan.targets.iter().flat_map(|target| plan.connect_addresses(target)).any(local)
}
