//! [`connect_fleet`]: the fleet of a run.

use wavetank_fleet::constants::{ORPHAN_GRACE, START_TOLERANCE};
use wavetank_inventory::HostRole;
use wavetank_runner::{FleetReach, FleetRun, FleetTolerance};
use wavetank_units::{Code, UserError};

use super::broker_folder::{BrokerFolder, CA, CONTROLLER_SEED};
use super::selection::Selection;
use crate::cli::{FleetRunArgs, HostArgs, SshArgs};
use crate::commands::broker_access::open_broker;

/// Connects to the agents of all load hosts of a run's fleet, if it has one.
///
/// # Errors
/// A fleet file with mistakes or without load hosts, and agents that cannot take part.
pub(in crate::commands) fn connect_fleet(args: &FleetRunArgs) -> Result<Option<FleetRun>, UserError> {
    let Some(file) = &args.fleet else { return Ok(None) };
    let all = HostArgs { fleet: Some(file.clone()), ..HostArgs::default() };
    let ssh = SshArgs { ssh_config: args.ssh_config.clone(), ..SshArgs::default() };
    let mut selection = Selection::read(&all)?;
    if !args.without.is_empty() {
        let without = Selection::read(&HostArgs { hosts: args.without.clone(), ..all })?.hosts;
        selection.hosts.retain(|host| without.iter().all(|other| other.name != host.name));
    }
    selection.hosts.retain(|host| host.role == HostRole::Load);
    if selection.hosts.is_empty() {
        let message = format!("{}: no host under `load` is left", file.display());
        return Err(UserError::usage(
            Code::NoLoadHosts,
            message,
            "name hosts under load:, or use a shorter --without",
        ));
    }
    let fleet = selection.fleet().expect("a fleet file was named");
    let reach = if let Some(broker) = BrokerFolder::read(fleet, args.broker.as_deref(), file)? {
        let (seed, ca) = (broker.dir.join(CONTROLLER_SEED), broker.dir.join(CA));
        FleetReach::Broker(Box::new(open_broker(&broker.url(), &broker.fleet, (Some(&seed), &ca))?))
    } else {
        let (options, sudo) = selection.ssh_options(&ssh);
        FleetReach::Ssh { options, sudo, at_once: selection.fan_out(&ssh) }
    };
    FleetRun::connect(selection.hosts, reach, tolerance(args)).map(Some)
}

/// Returns what a run with these options tolerates of its agents.
pub(in crate::commands) fn tolerance(args: &FleetRunArgs) -> FleetTolerance {
    FleetTolerance {
        on_loss: args.on_loss.unwrap_or_default(),
        start: args.start_tolerance.unwrap_or(START_TOLERANCE),
        lease: args.lease.unwrap_or(ORPHAN_GRACE),
    }
}
