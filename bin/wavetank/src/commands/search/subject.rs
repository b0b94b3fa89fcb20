//! [`SearchSubject`]: what a search loads. Turns a level into a run.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_experiment::{Experiment, Level, LowerContext, LoweredPlan, connect_addresses, lower, plan_url};
use wavetank_plan::{EngineChoice, Guard, Plan, RunOptions, TargetUrl};
use wavetank_report::load_doc;
use wavetank_runner::{
    FleetLoad, Host, LevelPlan, SearchedLoad, check_allowed, is_safe, level_rate, lookup, tls_client,
};
use wavetank_search::SearchVariable;
use wavetank_units::{Nanos, UserError};

use super::super::fleet::{connect_fleet, fleet_load};
use super::super::run_file::{all_tables, check_supported, probe_plan, sources};
use super::super::source_addresses::{check_sources, local_source_addresses};
use crate::cli::{FileArgs, SearchArgs, check_searchable, no_threshold};
use crate::experiment::{ExperimentFile, TargetAddresses};

/// One request, or an experiment.
pub(super) enum SearchSubject<'a> {
    /// One request, repeated.
    Url {
        url: &'a TargetUrl,
        /// Options with all names looked up.
        options: Box<RunOptions>,
        addresses: Vec<SocketAddr>,
        around: (&'a SearchArgs, &'a Host),
    },
    /// One phase of an experiment.
    File {
        file: &'a FileArgs,
        loaded: &'a ExperimentFile,
        experiment: &'a Experiment,
        names: &'a TargetAddresses<'a>,
        around: (&'a SearchArgs, &'a Host),
    },
}

/// Returns the subject for `url` and the options.
pub(super) fn from_url<'a>(
    url: &'a TargetUrl,
    args: &'a SearchArgs,
    host: &'a Host,
) -> Result<SearchSubject<'a>, UserError> {
    let mut options = args.options.clone();
    let (name, port) = options.connect_point(url)?;
    let addresses = lookup((&name, port))?;
    if let Some(proxy) = &mut options.proxy {
        proxy.addresses = lookup((&proxy.url.at.host, proxy.url.at.port))?;
    }
    if args.source_auto {
        let first = options.proxy.as_ref().map_or(&url.host, |proxy| &proxy.url.at.host).clone();
        options.sources = local_source_addresses(&connect_addresses(&options, url, &addresses)?, &first)?;
    }
    Ok(SearchSubject::Url { url, options: Box::new(options), addresses, around: (args, host) })
}

/// Returns the subject for an experiment file. Fails if the file has no thresholds.
pub(super) fn from_experiment<'a>(
    file: &'a FileArgs,
    loaded: &'a ExperimentFile,
    experiment: &'a Experiment,
    names: &'a TargetAddresses<'a>,
    around: (&'a SearchArgs, &'a Host),
) -> Result<SearchSubject<'a>, UserError> {
    check_supported(experiment, false, None, &[])?;
    let thresholds: Vec<_> = experiment.thresholds.iter().map(|one| one.value.clone()).collect();
    check_searchable(&thresholds)?;
    if thresholds.is_empty() {
        return Err(no_threshold(&format!("{} has no thresholds", loaded.name)));
    }
    Ok(SearchSubject::File { file, loaded, experiment, names, around })
}

impl SearchedLoad for SearchSubject<'_> {
    fn plan_run(&self, level: f64, length: Nanos, seed: u64) -> Result<LevelPlan, UserError> {
        match self {
            Self::Url { .. } => self.url_ready(level, length, seed),
            Self::File { .. } => self.file_ready(level, length, seed),
        }
    }

    fn connect_fleet(&self, plan: &Plan) -> Result<Option<FleetLoad>, UserError> {
        let (Self::Url { around: (args, host), .. } | Self::File { around: (args, host), .. }) = self;
        let options = &args.options;
        fleet_load(connect_fleet(&args.fleet)?, host, plan, options, options.probe)
    }
}

impl SearchSubject<'_> {
    fn url_ready(&self, level: f64, length: Nanos, seed: u64) -> Result<LevelPlan, UserError> {
        let Self::Url { url, options, addresses, around: (args, host) } = self else {
            unreachable!("only called for a URL")
        };
        let mut options = (**options).clone();
        match args.sought {
            SearchVariable::Rate => options.rate = Some(level_rate(level)),
            SearchVariable::Users | SearchVariable::Connections => options.connections = Some(level as u64),
        }
        options.duration = Some(length);
        options.warmup = Some(args.limits.warmup);
        options.seed = Some(seed);
        let resolved = plan_url(&options, url, addresses, &host.facts)?;
        check_allowed(&resolved, &options, url, &args.command)?;
        check_sources(host, &resolved.plan)?;
        let tls = tls_client(&resolved.plan)?;
        let remarks = resolved.remarks;
        let plan = Arc::new(resolved.plan);
        let asked = options.probe != Some(false) && !host.facts.is_fleet();
        let probes = asked && is_safe(&plan.scenarios[0].steps[0].request.method);
        Ok(LevelPlan {
            load: load_doc(&plan, false),
            tls,
            engine_why: resolved.engine_why,
            guard: resolved.guard,
            tables: Vec::new(),
            truth: None,
            probe: probes.then(|| Arc::clone(&plan)),
            remarks,
            plan,
        })
    }

    fn file_ready(&self, level: f64, length: Nanos, seed: u64) -> Result<LevelPlan, UserError> {
        let Self::File { file, loaded, experiment, names, around: (args, host) } = self else {
            unreachable!("only called for a file")
        };
        let mut levelled = (*experiment).clone();
        let at = match args.sought {
            SearchVariable::Rate => Level::Rate(level_rate(level)),
            SearchVariable::Users => Level::Users(level as u64),
            SearchVariable::Connections => Level::Connections(level as u64),
        };
        let left_out = levelled.with_load_level(at, (args.limits.warmup, length), args.phase.as_deref())?;
        levelled.seed = Some(seed);
        let options = &args.options;
        let lowering = LowerContext {
            host: &host.facts,
            tables: &loaded.tables,
            addresses: &|url| names.addresses(url),
            file: &|name| loaded.file(name),
            secret: &|name| file.secret(name),
            sources: sources(&levelled, options, args.source_auto, names, &local_source_addresses)?,
            threads: options.threads,
            engine: options.engine.unwrap_or(EngineChoice::Auto),
        };
        let LoweredPlan { plan, lacking, mut remarks, engine_why } =
            lower(&levelled, &lowering).map_err(|unfit| unfit.into_user_error(&loaded.name))?;
        let guard = Guard::new(options.allow_target.clone());
        names.admit(&guard, &plan, &args.command)?;
        if let Some(error) = UserError::combine(lacking) {
            return Err(error);
        }
        check_sources(host, &plan)?;
        if levelled.truth == Some(true) {
            host.check_target_counts_available(&plan)?;
        }
        if !left_out.is_empty() {
            remarks.push(format!("left out: {}", left_out.join(", ")));
        }
        let probes = levelled.probe.unwrap_or_default() && !host.facts.is_fleet();
        let probe = probes.then(|| probe_plan(&plan)).transpose()?;
        Ok(LevelPlan {
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
