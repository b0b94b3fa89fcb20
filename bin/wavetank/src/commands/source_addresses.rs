//! The source addresses of the hosts that send the load.

use std::net::SocketAddr;

use wavetank_plan::{Plan, SourceOrder, SourcesPlan};
use wavetank_units::UserError;

use wavetank_runner::{Host, check_sources_bindable};

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
