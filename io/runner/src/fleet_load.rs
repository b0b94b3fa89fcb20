//! [`FleetLoad`]: what a run needs of the fleet that sends its load.

use std::net::SocketAddr;

use wavetank_plan::{EngineChoice, Plan, RunOptions};
use wavetank_units::{Code, UserError, unix_path};

use super::fleet_run::FleetRun;
use super::host::Host;

/// A load from the hosts of a fleet.
pub struct FleetLoad {
    /// The connected agents.
    pub fleet: FleetRun,
    /// The user left the number of threads to each agent.
    pub automatic_threads: bool,
    /// The user left the engine to each agent.
    pub automatic_engine: bool,
    /// Each agent first checks that it can connect to the targets.
    pub checks_reach: bool,
}

impl FleetLoad {
    /// Returns what a run needs of its fleet, if the fleet can carry out `plan`. Unless `probe` is
    /// false, each agent first checks that it reaches the targets. In a lab, the load hosts are the
    /// fleet if the user wants that; one probe from the first of them is enough there.
    ///
    /// # Errors
    /// If the target is each load host itself, and agents of a lab that cannot be started.
    pub fn plan(
        fleet: Option<FleetRun>,
        host: &Host,
        plan: &Plan,
        options: &RunOptions,
        probe: Option<bool>,
    ) -> Result<Option<Self>, UserError> {
        let automatic_engine = matches!(options.engine, None | Some(EngineChoice::Auto));
        let automatic_threads = options.threads.is_none();
        if let Some(lab) = &host.lab {
            let load = |fleet| Self { fleet, automatic_threads, automatic_engine, checks_reach: false };
            return Ok(lab.start_agents(plan)?.map(load));
        }
        let Some(fleet) = fleet else { return Ok(None) };
        let own = |address: &SocketAddr| {
            let ip = address.ip().to_canonical();
            ip.is_loopback() || ip.is_unspecified() || unix_path(*address).is_some()
        };
        let target = plan.targets.iter().find(|target| plan.connect_addresses(target).iter().any(own));
        if let Some(target) = target {
            let message = format!("`{}` would be each load host itself", target.url);
            let hint = "name the address by which the load hosts reach the target";
            return Err(UserError::usage(Code::FleetTarget, message, hint));
        }
        let checks_reach = probe != Some(false);
        Ok(Some(Self { fleet, automatic_threads, automatic_engine, checks_reach }))
    }
}
