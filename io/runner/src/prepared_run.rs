//! [`PreparedRun`]: a load with what its run needs, before anything is sent.

use std::sync::Arc;

use wavetank_driver::TlsClient;
use wavetank_experiment::{
    DataContent, DataSource, Experiment, LowerContext, LoweredPlan, UrlPlan, lower, rows_table,
};
use wavetank_journey::CompiledStep;
use wavetank_journey::data::Table;
use wavetank_plan::{
    CheckSubject, ConnectionOwner, EngineChoice, Guard, Plan, RunOptions, Scenario, Secret, StatusSet, Step,
    Unsupported,
};
use wavetank_record::LoadDoc;
use wavetank_report::load_doc;
use wavetank_units::{Code, UserError};

use super::host::Host;
use super::probe::is_safe;
use super::source_addresses::{check_sources, chosen_sources};
use super::target_addresses::TargetAddresses;
use super::tls::tls_client;

/// See the module's description.
pub struct PreparedRun {
    /// The load.
    pub plan: Arc<Plan>,
    /// Its description for the record.
    pub load: LoadDoc,
    /// Our side of TLS, if the plan speaks it.
    pub tls: Option<Arc<TlsClient>>,
    /// Why the best driver is not used, unless the user chose the driver.
    pub engine_why: Option<Unsupported>,
    /// Decides over every address of the run.
    pub guard: Guard,
    /// Rows for each source of data in the plan.
    pub tables: Vec<Table>,
    /// Whether the target is asked for its own count of connections; `None`: if it is on this host.
    pub truth: Option<bool>,
    /// The plan with the step to send as the uncounted probe.
    pub probe: Option<Arc<Plan>>,
    /// Remarks, printed once.
    pub remarks: Vec<String>,
}

/// An experiment, and what its plan takes from outside of it.
pub struct ExperimentSource<'a> {
    /// The experiment, with the options in place.
    pub experiment: &'a Experiment,
    /// Its file's name.
    pub name: &'a str,
    /// Looks up its targets.
    pub addresses: &'a TargetAddresses<'a>,
    /// Reads a file that it names.
    pub file: &'a dyn Fn(&str) -> Result<Vec<u8>, UserError>,
    /// Finds a secret that it names.
    pub secret: &'a dyn Fn(&str) -> Option<Secret>,
    /// Options of this host: threads, engine, source addresses, allowed targets.
    pub options: &'a RunOptions,
    /// `--source auto`: all addresses of the interface towards the target.
    pub source_auto: bool,
    /// The command as typed, without secrets.
    pub command: &'a str,
}

impl PreparedRun {
    /// A load without data and probe. `is_default`: the user left the load open.
    ///
    /// # Errors
    /// Settings of TLS that allow no handshake.
    pub fn new(
        plan: Plan,
        guard: Guard,
        engine_why: Option<Unsupported>,
        is_default: bool,
    ) -> Result<Self, UserError> {
        Ok(Self {
            load: load_doc(&plan, is_default),
            tls: tls_client(&plan)?,
            engine_why,
            guard,
            tables: Vec::new(),
            truth: None,
            probe: None,
            remarks: Vec::new(),
            plan: Arc::new(plan),
        })
    }

    /// The repeated request of a URL. It is also the probe if `probes`, unless its method changes
    /// something.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn from_url(planned: UrlPlan, is_default: bool, probes: bool) -> Result<Self, UserError> {
        let UrlPlan { plan, guard, engine_why, remarks, .. } = planned;
        let prepared = Self::new(plan, guard, engine_why, is_default)?;
        let probes = probes && is_safe(&prepared.plan.scenarios[0].steps[0].request.method);
        let probe = probes.then(|| Arc::clone(&prepared.plan));
        Ok(Self { probe, remarks, ..prepared })
    }

    /// The load of an experiment from `host`. `tables` are the rows of each source of data that is
    /// a file.
    ///
    /// # Errors
    /// Everything that can be found before anything is sent: resources that the host lacks, targets
    /// that are not allowed, rows that are missing.
    pub fn from_experiment(
        source: &ExperimentSource<'_>,
        tables: Vec<Option<Table>>,
        host: &Host,
    ) -> Result<Self, UserError> {
        let &ExperimentSource { experiment, options, addresses, .. } = source;
        let lowering = LowerContext {
            host: &host.facts,
            tables: &tables,
            addresses: &|url| addresses.addresses(url),
            file: source.file,
            secret: source.secret,
            sources: chosen_sources(experiment, options, source.source_auto, addresses, host)?,
            threads: options.threads,
            engine: options.engine.unwrap_or(EngineChoice::Auto),
        };
        let LoweredPlan { plan, lacking, remarks, engine_why } =
            lower(experiment, &lowering).map_err(|unfit| unfit.into_user_error(source.name))?;
        let guard = Guard::new(options.allow_target.clone());
        addresses.admit(&guard, &plan, source.command)?;
        if let Some(error) = UserError::combine(lacking) {
            return Err(error);
        }
        check_sources(host, &plan)?;
        let tables = all_tables(experiment, tables)?;
        if experiment.truth == Some(true) {
            host.check_target_counts_available(&plan)?;
        }
        let probes = experiment.probe.unwrap_or_default() && !host.facts.is_fleet();
        let probe = probes.then(|| probe_plan(&plan)).transpose()?;
        let prepared = Self::new(plan, guard, engine_why, !experiment.has_phases())?;
        Ok(Self { tables, truth: experiment.truth, probe, remarks, ..prepared })
    }
}

/// Returns a plan with only the probe request: the first step that is the same for all users and
/// changes nothing.
fn probe_plan(plan: &Plan) -> Result<Arc<Plan>, UserError> {
    let fixed = |step: &&Step| {
        is_safe(&step.request.method)
            && CompiledStep::new(step, plan, false).is_ok_and(|work| work.as_fixed().is_some())
    };
    let step = plan.scenarios.iter().flat_map(|scenario| &scenario.steps).find(fixed).ok_or_else(|| {
        let message =
            "nothing can be probed: no step is a GET, HEAD or OPTIONS that is the same for all users";
        UserError::usage(
            Code::NothingToProbe,
            message,
            "leave out --probe and probe: true, or use --no-probe",
        )
    })?;
    let mut one = plan.clone();
    one.http.timeout = step.timeout.unwrap_or(plan.http.timeout);
    // The step checks the status itself, so the probe accepts every status.
    let asks = step.checks.iter().any(|check| check.subject == CheckSubject::Answer("status".to_owned()));
    if asks {
        one.http.expect = StatusSet::parse("100 to 599")?;
    }
    one.scenarios = vec![Scenario::from_steps(String::new(), ConnectionOwner::User, vec![step.clone()])];
    Ok(Arc::new(one))
}

/// Returns one table for each data source, including inline ones.
///
/// # Errors
/// A source without rows.
pub fn all_tables(experiment: &Experiment, tables: Vec<Option<Table>>) -> Result<Vec<Table>, UserError> {
    let one = |(source, table): (&DataSource, Option<Table>)| {
        let table = match (&source.content, table) {
            (_, Some(table)) => Some(table),
            (DataContent::Rows { .. }, None) => rows_table(source)?,
            (DataContent::File(_), None) => None,
        };
        table.ok_or_else(|| {
            let message = format!("{} has no rows", source.name);
            UserError::usage(Code::DataMissing, message, "a file of rows, or rows: in the experiment")
        })
    };
    experiment.data.iter().zip(tables).map(one).collect()
}
