//! [`RunControl`]: the run as other processes of its user see and steer it.

use wavetank_control::{ControlServer, PendingRequest, RunFolder};
use wavetank_diagnose::{RunContext, RunEnd};
use wavetank_measure::{Interval, Ledger};
use wavetank_plan::Plan;
use wavetank_record::{
    AgentDoc, ConnectionMemory, EnvironmentDoc, EventLine, LiveAgent, LiveDoc, LiveState, RunRecord,
    SampleLine, Setup,
};
use wavetank_report::{LiveSource, RunFacts, build_record, live_doc, live_hosts};
use wavetank_store::ArchiveWriter;

use super::{RunConsole, SearchControl};

/// The side of a run that other processes see: its socket, and what its states consist of.
pub(crate) struct RunControl<'a> {
    listener: Listener<'a>,
    run: LiveRun,
}

/// Who has the socket.
enum Listener<'a> {
    /// The run itself; `None` if it could not listen.
    Own(Option<ControlServer>),
    /// The search that the run belongs to.
    Search(&'a SearchControl),
}

/// What is known of a run before its load.
pub(crate) struct LiveRun {
    environment: EnvironmentDoc,
    plan_hash: String,
    circumstances: RunContext,
    /// Folder of the archive.
    archive: Option<String>,
}

/// What a running run has measured so far.
pub(crate) struct LiveFacts<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) ledger: &'a Ledger,
    pub(crate) events: &'a [EventLine],
    pub(crate) samples: &'a [SampleLine],
    pub(crate) memory: Option<ConnectionMemory>,
    pub(crate) setup: Setup,
    pub(crate) latest: Option<&'a Interval>,
    pub(crate) state: LiveState,
    pub(crate) agents: Vec<LiveAgent>,
}

impl LiveRun {
    /// `circumstances` are those that the environment does not show.
    pub(crate) fn new(
        environment: &EnvironmentDoc,
        plan_hash: &str,
        archive: Option<&ArchiveWriter>,
        circumstances: RunContext,
    ) -> Self {
        Self {
            circumstances: RunContext {
                running: true,
                cpus: environment.host.cpus.len() as u32,
                rehearsal: environment.rehearsal.is_some(),
                ..circumstances
            },
            environment: environment.clone(),
            plan_hash: plan_hash.to_owned(),
            archive: archive.map(|archive| archive.dir().to_string_lossy().into_owned()),
        }
    }
}

impl<'a> RunControl<'a> {
    /// Listens for requests, or takes those of the search that the run belongs to. If it cannot
    /// listen, it prints why and the run goes on without.
    pub(crate) fn listen(
        run: LiveRun,
        plan: &Plan,
        search: Option<&'a SearchControl>,
        console: &mut dyn RunConsole,
    ) -> Self {
        let own = || {
            let server = ControlServer::listen(&run_folder(), &run.environment.id);
            let server = server.inspect_err(|error| {
                console.warn(&format!("cannot listen for `wavetank status`, `stop` and `set`: {error}"));
            });
            Listener::Own(server.ok())
        };
        let listener = search.map_or_else(own, Listener::Search);
        let this = Self { listener, run };
        let ledger = Ledger::new(plan);
        this.publish(&this.state(LiveFacts {
            plan,
            ledger: &ledger,
            events: &[],
            samples: &[],
            memory: None,
            setup: Setup::default(),
            latest: None,
            state: LiveState::Starting,
            agents: Vec::new(),
        }));
        this
    }

    /// Whether the run is a level of a search, which chooses its own load.
    pub(crate) const fn is_search(&self) -> bool {
        matches!(self.listener, Listener::Search(_))
    }

    /// The user stops the run, and with it the search that it belongs to.
    pub(crate) fn stop(&self) {
        if let Listener::Search(search) = &self.listener {
            search.stop();
        }
    }

    const fn server(&self) -> Option<&ControlServer> {
        match &self.listener {
            Listener::Own(server) => server.as_ref(),
            Listener::Search(search) => search.server(),
        }
    }

    /// Returns the next request that waits for a decision.
    pub(crate) fn next_request(&self) -> Option<PendingRequest> {
        self.server()?.next()
    }

    /// Whether any process watches the run.
    pub(crate) fn is_watched(&self) -> bool {
        self.server().is_some_and(ControlServer::is_watched)
    }

    /// Sends a state to all processes that watch the run, without waiting.
    pub(crate) fn publish(&self, state: &LiveDoc) {
        if let Some(server) = self.server() {
            server.publish(state);
        }
    }

    /// The state of the run, from what it has measured so far.
    pub(crate) fn state(&self, facts: LiveFacts<'_>) -> LiveDoc {
        let record = build_record(RunFacts {
            plan: facts.plan,
            plan_hash: &self.run.plan_hash,
            environment: &self.run.environment,
            ledger: facts.ledger,
            ending: &RunEnd::Finished,
            circumstances: &self.run.circumstances,
            cpu_s: (0.0, 0.0),
            peak_rss_bytes: 0,
            connection_memory: facts.memory,
            setup: facts.setup,
            events: facts.events,
            samples: facts.samples,
        });
        let source = LiveSource {
            record: &record,
            plan: facts.plan,
            latest: facts.latest,
            connections_lost: facts.ledger.totals().conns.lost,
            state: facts.state,
        };
        let hosts = live_hosts(facts.ledger.observed());
        LiveDoc { agents: facts.agents, hosts, ..self.complete(live_doc(&source)) }
    }

    /// The run is over: sends its result to all processes that watch it, if it had a load. Those
    /// that watch a search wait for the search's.
    pub(crate) fn end(control: Option<&Self>, plan: &Plan, record: &RunRecord) {
        let Some(control) = control.filter(|control| !control.is_search()) else { return };
        let lost = record.connections.lost;
        let source =
            LiveSource { record, plan, latest: None, connections_lost: lost, state: LiveState::Over };
        let agents = record.fleet.iter().flat_map(|fleet| &fleet.agents).map(over).collect();
        // No interval follows, so the time is the end of the measured load.
        control.publish(&LiveDoc { at_s: record.duration_s, agents, ..control.complete(live_doc(&source)) });
    }

    fn complete(&self, state: LiveDoc) -> LiveDoc {
        let state = LiveDoc { pid: std::process::id(), archive: self.run.archive.clone(), ..state };
        match &self.listener {
            Listener::Own(_) => state,
            Listener::Search(search) => search.state(state),
        }
    }
}

/// An agent of a run that is over.
fn over(agent: &AgentDoc) -> LiveAgent {
    LiveAgent { name: agent.name.clone(), state: LiveState::Over.name().to_owned() }
}

/// The folder with the sockets of this user's runs.
pub fn run_folder() -> RunFolder {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(std::path::PathBuf::from);
    RunFolder::of_user(runtime.as_deref())
}
