//! [`Aim`]: what a search loads, and how a level of it becomes a run.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_driver::TlsClient;
use wavetank_experiment::{Experiment, Level, Lowered, Lowering, lower};
use wavetank_journey::rows::Table;
use wavetank_plan::resolve::way_addresses;
use wavetank_plan::{EngineChoice, Guard, Missing, Nanos, Plan, RunOptions, TargetUrl, UserError, resolve};
use wavetank_record::LoadDoc;
use wavetank_report::load_doc;

use super::super::run::{own_addresses, try_sources};
use super::super::run_file::{all_tables, probed, sources, unready};
use super::level::rate_of;
use crate::cli::{FileArgs, SearchArgs, Sought, no_threshold, searchable};
use crate::experiment::{Loaded, Names};
use crate::run::{Host, admit, askable, is_safe, lookup, tls_client};

/// One request, or an experiment.
pub(super) enum Aim<'a> {
    /// Over and over.
    Url {
        url: &'a TargetUrl,
        /// Names looked up.
        options: Box<RunOptions>,
        addresses: Vec<SocketAddr>,
        around: (&'a SearchArgs, &'a Host),
    },
    /// One phase of it.
    File {
        file: &'a FileArgs,
        loaded: &'a Loaded,
        experiment: &'a Experiment,
        names: &'a Names<'a>,
        around: (&'a SearchArgs, &'a Host),
    },
}

/// A level, ready to run.
pub(super) struct Ready {
    pub(super) plan: Arc<Plan>,
    pub(super) load: LoadDoc,
    pub(super) tls: Option<Arc<TlsClient>>,
    pub(super) engine_why: Option<Missing>,
    pub(super) guard: Guard,
    pub(super) tables: Vec<Table>,
    pub(super) truth: Option<bool>,
    /// What would be sent ahead.
    pub(super) probe: Option<Arc<Plan>>,
    /// Worth a line, once.
    pub(super) remarks: Vec<String>,
}

/// The request that `url` and the options say.
pub(super) fn of_url<'a>(
    url: &'a TargetUrl,
    args: &'a SearchArgs,
    host: &'a Host,
) -> Result<Aim<'a>, UserError> {
    let mut options = args.options.clone();
    let (name, port) = options.connect_point(url)?;
    let addresses = lookup((&name, port))?;
    if let Some(proxy) = &mut options.proxy {
        proxy.addresses = lookup((&proxy.url.at.host, proxy.url.at.port))?;
    }
    if args.source_auto {
        let first = options.proxy.as_ref().map_or(&url.host, |proxy| &proxy.url.at.host).clone();
        options.sources = own_addresses(&way_addresses(&options, url, &addresses)?, &first)?;
    }
    Ok(Aim::Url { url, options: Box::new(options), addresses, around: (args, host) })
}

/// The experiment of a file that has thresholds.
pub(super) fn of_file<'a>(
    file: &'a FileArgs,
    loaded: &'a Loaded,
    experiment: &'a Experiment,
    names: &'a Names<'a>,
    around: (&'a SearchArgs, &'a Host),
) -> Result<Aim<'a>, UserError> {
    unready(experiment, false, None)?;
    let thresholds: Vec<_> = experiment.thresholds.iter().map(|one| one.value.clone()).collect();
    searchable(&thresholds)?;
    if thresholds.is_empty() {
        return Err(no_threshold(&format!("{} has no thresholds", loaded.name)));
    }
    Ok(Aim::File { file, loaded, experiment, names, around })
}

impl Aim<'_> {
    /// A run at `level` for `length`. Errors are those of `run`.
    pub(super) fn ready(&self, level: f64, length: Nanos, seed: u64) -> Result<Ready, UserError> {
        match self {
            Self::Url { .. } => self.url_ready(level, length, seed),
            Self::File { .. } => self.file_ready(level, length, seed),
        }
    }

    fn url_ready(&self, level: f64, length: Nanos, seed: u64) -> Result<Ready, UserError> {
        let Self::Url { url, options, addresses, around: (args, host) } = self else {
            unreachable!("asked of a URL alone")
        };
        let mut options = (**options).clone();
        match args.sought {
            Sought::Rate => options.rate = Some(rate_of(level)),
            Sought::Users | Sought::Connections => options.connections = Some(level as u64),
        }
        options.duration = Some(length);
        options.warmup = Some(args.limits.warmup);
        options.seed = Some(seed);
        let resolved = resolve(&options, url, addresses, &host.facts)?;
        admit(&resolved, &options, url, &args.command)?;
        try_sources(&resolved.plan)?;
        let tls = tls_client(&resolved.plan)?;
        let plan = Arc::new(resolved.plan);
        let probes = options.probe != Some(false) && is_safe(&plan.scenarios[0].steps[0].request.method);
        Ok(Ready {
            load: load_doc(&plan, false),
            tls,
            engine_why: resolved.engine_why,
            guard: resolved.guard,
            tables: Vec::new(),
            truth: None,
            probe: probes.then(|| Arc::clone(&plan)),
            remarks: resolved.remarks,
            plan,
        })
    }

    fn file_ready(&self, level: f64, length: Nanos, seed: u64) -> Result<Ready, UserError> {
        let Self::File { file, loaded, experiment, names, around: (args, host) } = self else {
            unreachable!("asked of a file alone")
        };
        let mut levelled = (*experiment).clone();
        let at = match args.sought {
            Sought::Rate => Level::Rate(rate_of(level)),
            Sought::Users => Level::Users(level as u64),
            Sought::Connections => Level::Connections(level as u64),
        };
        let left_out = levelled.at_level(at, (args.limits.warmup, length), args.phase.as_deref())?;
        levelled.seed = Some(seed);
        let options = &args.options;
        let lowering = Lowering {
            host: &host.facts,
            tables: &loaded.tables,
            addresses: &|url| names.addresses(url),
            file: &|name| loaded.file(name),
            secret: &|name| file.secret(name),
            sources: sources(&levelled, options, args.source_auto, names, &own_addresses)?,
            threads: options.threads,
            engine: options.engine.unwrap_or(EngineChoice::Auto),
        };
        let Lowered { plan, lacking, mut remarks, engine_why } =
            lower(&levelled, &lowering).map_err(|unfit| unfit.told(&loaded.name))?;
        let guard = Guard::new(options.allow_target.clone());
        names.admit(&guard, &plan, &args.command)?;
        if let Some(error) = UserError::all(lacking) {
            return Err(error);
        }
        try_sources(&plan)?;
        if levelled.truth == Some(true) {
            askable(&plan, None)?;
        }
        if !left_out.is_empty() {
            remarks.push(format!("left out: {}", left_out.join(", ")));
        }
        let probe = levelled.probe.unwrap_or_default().then(|| probed(&plan)).transpose()?;
        Ok(Ready {
            load: load_doc(&plan, false),
            tls: tls_client(&plan)?,
            engine_why,
            guard,
            tables: all_tables(&levelled, loaded.tables.clone())?,
            truth: levelled.truth,
            probe,
            remarks,
            plan: Arc::new(plan),
        })
    }
}
