//! [`Bench`]: one measurement after the other, each a run of its own.

use std::sync::Arc;

use wavetank_driver::Signals;
use wavetank_experiment::LoweredPlan;
use wavetank_experiment::plan_url;
use wavetank_plan::{EngineChoice, Guard, Plan, RunOptions, TargetUrl, Unsupported};
use wavetank_record::{LoadDoc, RunRecord};
use wavetank_report::load_doc;
use wavetank_runner::{Execution, Host, check_allowed, execute, lookup, tls_client};
use wavetank_units::{AllowTarget, ExitCode, UserError};

use crate::output::Console;

/// Connections with one user on each: the default of `run`, and enough to keep every CPU busy.
pub(crate) const FULL_LOAD: u64 = 50;

/// Why there is no measurement.
pub(crate) enum BenchError {
    /// Ctrl-C or SIGTERM.
    Signal,
    /// Something else.
    Fault(UserError),
}

impl From<UserError> for BenchError {
    fn from(error: UserError) -> Self {
        Self::Fault(error)
    }
}

/// What all measurements have in common.
pub(crate) struct Bench {
    /// With the CPUs of the load.
    pub(crate) host: Host,
    pub(crate) engine: EngineChoice,
    pub(crate) allow_target: Vec<AllowTarget>,
    pub(crate) signals: Signals,
    /// As typed.
    pub(crate) command: String,
}

impl Bench {
    /// A run of one URL with `options`, as `wavetank run URL` makes it.
    pub(crate) fn url(&self, url: &TargetUrl, options: RunOptions) -> Result<RunRecord, BenchError> {
        let options =
            RunOptions { engine: Some(self.engine), allow_target: self.allow_target.clone(), ..options };
        let addresses = lookup((&url.host, url.port))?;
        let resolved = plan_url(&options, url, &addresses, &self.host.facts)?;
        check_allowed(&resolved, &options, url, &self.command)?;
        let load = load_doc(&resolved.plan, false);
        self.execute(resolved.plan, load, resolved.guard, resolved.engine_why)
    }

    /// A run of what an experiment was lowered to.
    pub(crate) fn plan(&self, lowered: LoweredPlan) -> Result<RunRecord, BenchError> {
        if let Some(first) = lowered.lacking.into_iter().next() {
            return Err(first.into());
        }
        let load = load_doc(&lowered.plan, false);
        self.execute(lowered.plan, load, Guard::new(Vec::new()), lowered.engine_why)
    }

    fn execute(
        &self,
        plan: Plan,
        load: LoadDoc,
        guard: Guard,
        engine_why: Option<Unsupported>,
    ) -> Result<RunRecord, BenchError> {
        if self.signals.received() > 0 {
            return Err(BenchError::Signal);
        }
        let plan = Arc::new(plan);
        let execution = Execution {
            load,
            tls: tls_client(&plan)?,
            plan,
            host: &self.host,
            engine_why,
            command: &self.command,
            runs_dir: None,
            repeatable: false,
            probe: None,
            tables: Vec::new(),
            fleet: None,
            guard,
            truth: None,
            rehearsal: None,
            search: None,
            known_latency: None,
            samples_host: false,
            metrics: None,
        };
        let record = execute(execution, &mut Console::new(true))?.record;
        if self.signals.received() > 0 || record.verdict.exit == ExitCode::Signal as u8 {
            return Err(BenchError::Signal);
        }
        if record.requests.done == 0 {
            return Err(BenchError::Fault(nothing_done(&record)));
        }
        Ok(record)
    }
}

fn nothing_done(record: &RunRecord) -> UserError {
    let why = record.errors.iter().max_by_key(|(_, count)| **count).map(|(class, _)| class.as_str());
    let detail = record.samples.iter().map(|sample| sample.detail.as_str()).find(|detail| !detail.is_empty());
    let why = detail.or(why).unwrap_or("the reason is unknown");
    let message = format!("{} answered none of {} requests: {why}", record.target, record.requests.offered);
    let hint = format!("wavetank run {} --once shows what it answers", record.target);
    UserError { exit: ExitCode::Fail, ..UserError::usage("no_answer", message, hint) }
}
