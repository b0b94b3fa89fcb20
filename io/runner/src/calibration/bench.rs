//! [`Bench`]: one measurement after the other, each a run of its own.

use wavetank_driver::Signals;
use wavetank_experiment::LoweredPlan;
use wavetank_experiment::plan_url;
use wavetank_plan::{EngineChoice, Guard, RunOptions, TargetUrl};
use wavetank_record::RunRecord;
use wavetank_units::{AllowTarget, Code, ExitCode, UserError};

use crate::{Execution, Host, PreparedRun, RunConsole, check_allowed, execute, lookup};

/// Connections with one user on each: the default of `run`, and enough to keep every CPU busy.
pub(super) const FULL_LOAD: u64 = 50;

/// Why there is no measurement.
pub enum CalibrationError {
    /// Ctrl-C or SIGTERM.
    Signal,
    /// Something else.
    Fault(UserError),
}

impl From<UserError> for CalibrationError {
    fn from(error: UserError) -> Self {
        Self::Fault(error)
    }
}

/// What all measurements have in common.
pub(super) struct Bench<'a> {
    /// With the CPUs of the load.
    pub(super) host: Host,
    pub(super) engine: EngineChoice,
    pub(super) allow_target: Vec<AllowTarget>,
    pub(super) signals: Signals,
    /// As typed.
    pub(super) command: String,
    /// Where the runs print.
    pub(super) console: &'a mut dyn RunConsole,
}

impl Bench<'_> {
    /// A run of one URL with `options`, as `wavetank run URL` makes it.
    pub(super) fn url(
        &mut self,
        url: &TargetUrl,
        options: RunOptions,
    ) -> Result<RunRecord, CalibrationError> {
        let options =
            RunOptions { engine: Some(self.engine), allow_target: self.allow_target.clone(), ..options };
        let addresses = lookup((&url.host, url.port))?;
        let resolved = plan_url(&options, url, &addresses, &self.host.facts)?;
        check_allowed(&resolved, &options, url, &self.command)?;
        self.execute(PreparedRun::from_url(resolved, false, false)?)
    }

    /// A run of what an experiment was lowered to.
    pub(super) fn plan(&mut self, lowered: LoweredPlan) -> Result<RunRecord, CalibrationError> {
        if let Some(first) = lowered.lacking.first() {
            return Err(first.clone().into());
        }
        let LoweredPlan { plan, engine_why, .. } = lowered;
        self.execute(PreparedRun::new(plan, Guard::new(Vec::new()), engine_why, false)?)
    }

    fn execute(&mut self, prepared: PreparedRun) -> Result<RunRecord, CalibrationError> {
        if self.signals.received() > 0 {
            return Err(CalibrationError::Signal);
        }
        let execution = Execution {
            prepared,
            host: &self.host,
            command: &self.command,
            runs_dir: None,
            repeatable: false,
            fleet: None,
            rehearsal: None,
            search: None,
            known_latency: None,
            samples_host: false,
            metrics: None,
        };
        let record = execute(execution, self.console)?.record;
        if self.signals.received() > 0 || record.verdict.exit == ExitCode::Signal as u8 {
            return Err(CalibrationError::Signal);
        }
        if record.requests.done == 0 {
            return Err(CalibrationError::Fault(nothing_done(&record)));
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
    UserError { exit: ExitCode::Fail, ..UserError::usage(Code::NoAnswer, message, hint) }
}
