//! The source addresses of the hosts that send the load.

use std::net::SocketAddr;

use wavetank_driver::bind_probe;
use wavetank_plan::{Plan, SourceOrder, SourcesPlan};
use wavetank_units::UserError;

use crate::run::Host;

/// Returns the addresses for `--source auto`: all addresses of the interface towards `targets`,
/// filled one after another. `name` is the targets' name.
pub(super) fn local_source_addresses(targets: &[SocketAddr], name: &str) -> Result<SourcesPlan, UserError> {
    let ranges = wavetank_observe::route_sources(targets).map_err(|error| {
        UserError::refused(
            "no_source_address",
            format!("--source auto: this host has no route to `{name}`: {error}"),
            "check the routes (ip route get ADDRESS), or name the addresses: --source CIDR",
        )
    })?;
    Ok(SourcesPlan { ranges, order: SourceOrder::FillFirst })
}

/// Returns the addresses for `--source auto` of all hosts that send the load.
pub(super) fn source_addresses(
    host: &Host,
    targets: &[SocketAddr],
    name: &str,
) -> Result<SourcesPlan, UserError> {
    match &host.lab {
        Some(lab) => lab.source_addresses(targets, name),
        None => local_source_addresses(targets, name),
    }
}

/// Checks before anything is sent that the load hosts can bind the source addresses. The agents of
/// a fleet check that themselves.
pub(super) fn check_sources(host: &Host, plan: &Plan) -> Result<(), UserError> {
    match &host.lab {
        Some(lab) => lab.try_sources(plan),
        None if host.facts.is_fleet() => Ok(()),
        None => check_sources_bindable(plan),
    }
}

/// Checks before anything is sent that this host can bind the first address of every source range.
pub(super) fn check_sources_bindable(plan: &Plan) -> Result<(), UserError> {
    for range in &plan.sources.ranges {
        bind_probe(SocketAddr::new(range.first, 0)).map_err(|errno| {
            UserError::refused(
                "no_source_address",
                format!("this host cannot bind the source address {}: {errno}", range.first),
                format!("give it to an interface: ip address add {} dev INTERFACE", range.first),
            )
        })?;
    }
    Ok(())
}
