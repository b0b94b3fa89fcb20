//! The source addresses of the hosts that send the load.

use std::net::SocketAddr;

use wavetank_experiment::{Experiment, Sources};
use wavetank_plan::{Plan, RunOptions, SourceOrder, SourcesPlan};
use wavetank_units::{Code, UserError};

use super::Host;
use super::source_check::check_sources_bindable;
use super::target_addresses::TargetAddresses;

/// Returns the addresses for `--source auto`: all addresses of the interface towards `targets`,
/// filled one after another. `name` is the targets' name.
pub fn local_source_addresses(targets: &[SocketAddr], name: &str) -> Result<SourcesPlan, UserError> {
    let ranges = wavetank_observe::route_sources(targets).map_err(|error| {
        UserError::refused(
            Code::NoSourceAddress,
            format!("--source auto: this host has no route to `{name}`: {error}"),
            "check the routes (ip route get ADDRESS), or name the addresses: --source CIDR",
        )
    })?;
    Ok(SourcesPlan { ranges, order: SourceOrder::FillFirst })
}

/// Returns the addresses for `--source auto` of all hosts that send the load.
pub fn source_addresses(host: &Host, targets: &[SocketAddr], name: &str) -> Result<SourcesPlan, UserError> {
    match &host.lab {
        Some(lab) => lab.source_addresses(targets, name),
        None => local_source_addresses(targets, name),
    }
}

/// Checks before anything is sent that the load hosts can bind the source addresses. The agents of
/// a fleet check that themselves.
pub fn check_sources(host: &Host, plan: &Plan) -> Result<(), UserError> {
    match &host.lab {
        Some(lab) => lab.try_sources(plan),
        None if host.facts.is_fleet() => Ok(()),
        None => check_sources_bindable(plan),
    }
}

/// Returns the source addresses of the options or, without those, of the file. `auto` overrides
/// both with all addresses of the interfaces towards the targets.
///
/// # Errors
/// Targets without a route, and names that cannot be looked up.
pub fn chosen_sources(
    experiment: &Experiment,
    options: &RunOptions,
    auto: bool,
    names: &TargetAddresses<'_>,
    host: &Host,
) -> Result<SourcesPlan, UserError> {
    let own = || {
        let first = experiment.targets.first().and_then(|target| target.urls.first());
        let name = first.map_or("", |one| one.url.value.host.as_str());
        source_addresses(host, &names.target_addresses()?, name)
    };
    if auto {
        return own();
    }
    if !options.sources.is_empty() {
        return Ok(options.sources.clone());
    }
    match experiment.sources.as_ref().map(|sources| &sources.value) {
        Some(Sources::Auto) => own(),
        Some(Sources::These(these)) => Ok(these.clone()),
        None => Ok(SourcesPlan::default()),
    }
}
