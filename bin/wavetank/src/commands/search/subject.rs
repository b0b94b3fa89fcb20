//! [`SearchSubject`]: what a search loads. Turns a level into a run.

use std::net::SocketAddr;

use wavetank_experiment::{Experiment, Level, connect_addresses, plan_url};
use wavetank_plan::{Plan, RunOptions, TargetUrl};
use wavetank_runner::{
    ExperimentSource, FleetLoad, Host, PreparedRun, SearchedLoad, TargetAddresses, check_allowed,
    check_sources, check_supported, level_rate, local_source_addresses, lookup_url,
};
use wavetank_search::SearchVariable;
use wavetank_units::{Nanos, UserError};

use super::super::fleet::connect_fleet;
use crate::cli::{FileArgs, SearchArgs, check_searchable, no_threshold};
use crate::experiment::ExperimentFile;

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
    let addresses = lookup_url(&mut options, url)?;
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
    fn plan_run(&self, level: f64, length: Nanos, seed: u64) -> Result<PreparedRun, UserError> {
        match self {
            Self::Url { .. } => self.url_ready(level, length, seed),
            Self::File { .. } => self.file_ready(level, length, seed),
        }
    }

    fn connect_fleet(&self, plan: &Plan) -> Result<Option<FleetLoad>, UserError> {
        let (Self::Url { around: (args, host), .. } | Self::File { around: (args, host), .. }) = self;
        let options = &args.options;
        FleetLoad::plan(connect_fleet(&args.fleet)?, host, plan, options, options.probe)
    }
}

impl SearchSubject<'_> {
    fn url_ready(&self, level: f64, length: Nanos, seed: u64) -> Result<PreparedRun, UserError> {
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
        let probes = options.probe != Some(false) && !host.facts.is_fleet();
        PreparedRun::from_url(resolved, false, probes)
    }

    fn file_ready(&self, level: f64, length: Nanos, seed: u64) -> Result<PreparedRun, UserError> {
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
        let source = ExperimentSource {
            experiment: &levelled,
            name: &loaded.name,
            addresses: names,
            file: &|name| loaded.file(name),
            secret: &|name| file.secret(name),
            options: &args.options,
            source_auto: args.source_auto,
            command: &args.command,
        };
        let mut prepared = PreparedRun::from_experiment(&source, loaded.tables.clone(), host)?;
        if !left_out.is_empty() {
            prepared.remarks.push(format!("left out: {}", left_out.join(", ")));
        }
        Ok(prepared)
    }
}
